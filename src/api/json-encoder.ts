import { type DescEnum, type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { restEnumName } from "./rest-enum.ts";

/** Writes a message as the JSON text of the REST surface. */
export type JsonEncoder = (message: Message) => string;

type ValueEncoder = (value: unknown) => string;

/**
 * Compiles the REST form of a response from its descriptor. It differs from ProtoJSON in three ways: enums are their
 * short names, 64-bit integers that a double holds exactly are numbers, and every field is present: zero values as
 * such, what is absent as null.
 *
 * @throws Error at start, when the message holds a kind of field that no response has so far
 */
export function createJsonEncoder(desc: DescMessage): JsonEncoder {
  return createMessageEncoder(desc) as JsonEncoder;
}

function createMessageEncoder(desc: DescMessage): ValueEncoder {
  const fields = desc.fields.map((field, i) => ({
    localName: field.localName,
    prefix: `${i === 0 ? "" : ","}${JSON.stringify(field.jsonName)}:`,
    // Explicit presence lives in own properties; the prototype answers with the default for what is absent.
    optional: field.presence === FeatureSet_FieldPresence.EXPLICIT,
    encode: createFieldEncoder(field),
  }));
  return (value) => {
    const message = value as Readonly<Record<string, unknown>>;
    let json = "{";
    for (const { localName, prefix, optional, encode } of fields) {
      json += prefix;
      json += optional && !Object.hasOwn(message, localName) ? "null" : encode(message[localName]);
    }
    return `${json}}`;
  };
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
        let json = "[";
        for (const item of value as readonly unknown[]) json += json === "[" ? element(item) : `,${element(item)}`;
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
    if (value === undefined) return "null";
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
    case ScalarType.BOOL:
    case ScalarType.DOUBLE:
      return JSON.stringify;
    case ScalarType.UINT32:
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

function unsupported(field: DescField): Error {
  return new Error(`no JSON form is defined for ${field.toString()}`);
}
