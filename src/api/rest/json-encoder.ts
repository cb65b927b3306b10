import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { scalarZeroValue } from "@bufbuild/protobuf/reflect";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { mayHaveDefaults } from "../rpc/encode/fields.ts";
import { restEnumName } from "./rest-enum.ts";

/** Writes a message, or its fields, as JSON text of REST, in ASCII for any content. */
type JsonEncoder = (message: object) => string;

type ValueEncoder = (value: unknown) => string;

/**
 * Compiles a JSON encoder from the descriptor of a response. REST differs from ProtoJSON in three ways: enums have short
 * names, 64-bit integers that fit a double exactly are numbers, and every field is present: zeros as zeros, absent values
 * as null.
 *
 * @throws Error if the message contains an unsupported kind of field
 */
export function createJsonEncoder(desc: DescMessage): JsonEncoder {
  return createMessageEncoder(desc) as JsonEncoder;
}

function createMessageEncoder(desc: DescMessage): ValueEncoder {
  const fields = desc.fields.map((field, i) => {
    const prefix = `${i === 0 ? "" : ","}${JSON.stringify(field.jsonName)}:`;
    return {
      localName: field.localName,
      // Fields with explicit presence are own properties; the prototype has the defaults of absent ones.
      optional: field.presence === FeatureSet_FieldPresence.EXPLICIT,
      zero: zeroOf(field),
      encode: createFieldEncoder(field),
      // The quotes of a text are a part of what stands before and after it: each piece is an object until the JSON is written.
      isText: field.fieldKind === "scalar" && field.scalar === ScalarType.STRING,
      prefixes: { plain: prefix, quoting: `${prefix}"`, quoted: `"${prefix}`, between: `"${prefix}"` },
    };
  });
  return (value) => {
    const message = value as Readonly<Record<string, unknown>>;
    const hasDefaults = mayHaveDefaults(message);
    let json = "{";
    let isOpen = false;
    for (let index = 0; index < fields.length; index++) {
      const { localName, prefixes, optional, zero, encode, isText } = fields[index]!;
      const one = optional && hasDefaults && !Object.hasOwn(message, localName) ? undefined : message[localName];
      if (isText && one !== undefined && !NEEDS_ESCAPE.test(one as string)) {
        json += isOpen ? prefixes.between : prefixes.quoting;
        json += one as string;
        isOpen = true;
      } else {
        json += isOpen ? prefixes.quoted : prefixes.plain;
        json += one === undefined ? zero : encode(one);
        isOpen = false;
      }
    }
    return isOpen ? `${json}"}` : `${json}}`;
  };
}

/** The JSON of an absent field. */
function zeroOf(field: DescField): string {
  if (field.fieldKind === "list") return "[]";
  if (field.fieldKind === "message" || field.presence === FeatureSet_FieldPresence.EXPLICIT) return "null";
  return createFieldEncoder(field)(field.fieldKind === "scalar" ? scalarZeroValue(field.scalar, false) : 0);
}

function createFieldEncoder(field: DescField): ValueEncoder {
  if (field.oneof !== undefined) throw unsupported(field);
  switch (field.fieldKind) {
    case "scalar":
      return createScalarEncoder(field, field.scalar);
    case "enum":
      return createEnumEncoder(field.enum);
    case "message":
      return createNestedEncoder(field.message);
    case "list": {
      const element =
        field.listKind === "scalar"
          ? createScalarEncoder(field, field.scalar)
          : field.listKind === "enum"
            ? createEnumEncoder(field.enum)
            : createNestedEncoder(field.message);
      return (value) => {
        const items = value as readonly unknown[];
        let json = "[";
        for (let i = 0; i < items.length; i++) json += i === 0 ? element(items[i]) : `,${element(items[i])}`;
        return `${json}]`;
      };
    }
    default:
      throw unsupported(field);
  }
}

function createNestedEncoder(desc: DescMessage): ValueEncoder {
  let encode: ValueEncoder | undefined;
  return (value) => {
    encode ??= createMessageEncoder(desc);
    return encode(value);
  };
}

function createEnumEncoder(desc: DescEnum): ValueEncoder {
  const names = new Map(desc.values.map((value) => [value.number, JSON.stringify(restEnumName(value))]));
  return (value) => names.get(value as number) ?? String(value);
}

function createScalarEncoder(field: DescField, scalar: ScalarType): ValueEncoder {
  switch (scalar) {
    case ScalarType.STRING:
      return (value) => encodeText(value as string);
    case ScalarType.DOUBLE:
      return (value) => (Number.isFinite(value) ? `${value}` : "null");
    case ScalarType.BOOL:
    case ScalarType.UINT32:
    case ScalarType.SINT32:
      return String;
    case ScalarType.UINT64:
      return (value) => ((value as bigint) <= Number.MAX_SAFE_INTEGER ? `${value}` : `"${value}"`);
    case ScalarType.BYTES:
      return (value) => {
        const bytes = value as Uint8Array;
        return `"${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64")}"`;
      };
    default:
      throw unsupported(field);
  }
}

const NEEDS_ESCAPE = /[^ !#-[\]-~]/;

/** True of a text that does not stand in JSON as it is, in ASCII. */
export function needsEscape(text: string): boolean {
  return NEEDS_ESCAPE.test(text);
}

/** A text as JSON in ASCII. Most are base58, base64 or digits and need no escapes; one test proves it. */
export function encodeText(text: string): string {
  if (!NEEDS_ESCAPE.test(text)) return `"${text}"`;
  return JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function unsupported(field: DescField): Error {
  return new Error(`no JSON form is supported for ${field.toString()}`);
}
