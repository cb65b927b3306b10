import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { scalarZeroValue } from "@bufbuild/protobuf/reflect";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import type { AnswerBytes } from "../http/lane/answer-bytes.ts";
import { Piece } from "../http/lane/piece.ts";
import { mayHaveDefaults } from "../rpc/encode/fields.ts";
import { restEnumName } from "./rest-enum.ts";

/** Writes a message, or its fields, as JSON of REST, in ASCII for any content. */
export type JsonEncoder = (message: object, out: AnswerBytes) => void;

type ValueEncoder = (value: unknown, out: AnswerBytes) => void;

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
  const fields = desc.fields.map((field, index) => ({
    localName: field.localName,
    before: new Piece(`${index === 0 ? "{" : ","}${JSON.stringify(field.jsonName)}:`),
    // Fields with explicit presence are own properties; the prototype has the defaults of absent ones.
    optional: field.presence === FeatureSet_FieldPresence.EXPLICIT,
    zero: new Piece(zeroOf(field)),
    encode: createFieldEncoder(field),
  }));
  return (value, out) => {
    const message = value as Readonly<Record<string, unknown>>;
    const hasDefaults = mayHaveDefaults(message);
    for (let index = 0; index < fields.length; index++) {
      const { localName, before, optional, zero, encode } = fields[index]!;
      const one = optional && hasDefaults && !Object.hasOwn(message, localName) ? undefined : message[localName];
      out.piece(before);
      if (one === undefined) out.piece(zero);
      else encode(one, out);
    }
    out.piece(fields.length === 0 ? NO_FIELDS : END);
  };
}

const [TRUE, FALSE] = [new Piece("true"), new Piece("false")];
const NO_FIELDS = new Piece("{}");
const END = new Piece("}");

/** The JSON of an absent field. */
function zeroOf(field: DescField): string {
  if (field.fieldKind === "list") return "[]";
  if (field.fieldKind === "message" || field.presence === FeatureSet_FieldPresence.EXPLICIT) return "null";
  if (field.fieldKind === "enum") return nameIn(namesOf(field.enum), 0);
  const zero = scalarZeroValue((field as DescField & { readonly fieldKind: "scalar" }).scalar, false);
  return typeof zero === "object" || typeof zero === "string" ? '""' : String(zero);
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
    case "list":
      return createListEncoder(
        field.listKind === "scalar"
          ? createScalarEncoder(field, field.scalar)
          : field.listKind === "enum"
            ? createEnumEncoder(field.enum)
            : createNestedEncoder(field.message),
      );
    default:
      throw unsupported(field);
  }
}

const [LIST, COMMA, LIST_END] = [0x5b, 0x2c, 0x5d];

/** Writes the items of a list. */
export function createListEncoder(element: ValueEncoder): ValueEncoder {
  return (value, out) => {
    const items = value as readonly unknown[];
    out.byte(LIST);
    for (let i = 0; i < items.length; i++) {
      if (i > 0) out.byte(COMMA);
      element(items[i], out);
    }
    out.byte(LIST_END);
  };
}

function createNestedEncoder(desc: DescMessage): ValueEncoder {
  let encode: ValueEncoder | undefined;
  return (value, out) => {
    encode ??= createMessageEncoder(desc);
    encode(value, out);
  };
}

type EnumNames = ReadonlyMap<number, string>;

const namesOf = ({ values }: DescEnum): EnumNames =>
  new Map(values.map((value) => [value.number, JSON.stringify(restEnumName(value))]));
const nameIn = (names: EnumNames, value: number): string => names.get(value) ?? String(value);

function createEnumEncoder(desc: DescEnum): ValueEncoder {
  const names = namesOf(desc);
  return (value, out) => out.latin1(nameIn(names, value as number));
}

function createScalarEncoder(field: DescField, scalar: ScalarType): ValueEncoder {
  switch (scalar) {
    case ScalarType.STRING:
      return encodeText;
    case ScalarType.DOUBLE:
      return (value, out) => {
        if (Number.isFinite(value)) out.number(value as number);
        else out.latin1("null");
      };
    case ScalarType.BOOL:
      return (value, out) => out.piece(value === true ? TRUE : FALSE);
    case ScalarType.UINT32:
    case ScalarType.SINT32:
      return (value, out) => out.number(value as number);
    case ScalarType.UINT64:
      return (value, out) => {
        if ((value as bigint) <= Number.MAX_SAFE_INTEGER) out.number(Number(value));
        else out.latin1(`"${value}"`);
      };
    case ScalarType.BYTES:
      return encodeBytes;
    default:
      throw unsupported(field);
  }
}

export const encodeText: ValueEncoder = (value, out) => out.jsonText(value as string);

/** Bytes as base64. */
export const encodeBytes: ValueEncoder = (value, out) => out.jsonBase64(value as Uint8Array);

function unsupported(field: DescField): Error {
  return new Error(`no JSON form is supported for ${field.toString()}`);
}
