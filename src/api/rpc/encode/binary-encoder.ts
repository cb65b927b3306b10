import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { bytesAsText, float64, longVarint, utf8, varint, zigzag } from "./binary-text.ts";
import { byNumber, isEncodable, isExplicit, type MessageFields, mayHaveDefaults, setValue } from "./fields.ts";

/** Encodes a message, or its fields, as a text whose characters are the bytes. */
export type BinaryEncoder = (message: object) => string;

type ValueEncoder = (value: unknown) => string;

const LENGTH_DELIMITED = 2;
const FIXED_64 = 1;
const VARINT = 0;
/** Values below this length get what stands before them from a table. */
const SHORT = 128;

/**
 * Compiles a Protocol Buffers encoder from the descriptor of a response. It writes what `toBinary` writes, and takes fields as
 * well as messages: no message has to be made of them first. Undefined if the message contains what it does not support.
 */
export function createBinaryEncoder(desc: DescMessage): BinaryEncoder | undefined {
  return isEncodable(desc) ? (createFieldsEncoder(desc, new Map()) as BinaryEncoder) : undefined;
}

function createFieldsEncoder(desc: DescMessage, known: Map<DescMessage, ValueEncoder>): ValueEncoder {
  const made = known.get(desc);
  if (made !== undefined) return made;
  const fields: { readonly localName: string; readonly explicit: boolean; readonly encode: ValueEncoder }[] = [];
  const encodeAll: ValueEncoder = (message) => {
    const hasDefaults = mayHaveDefaults(message as object);
    let text = "";
    for (let index = 0; index < fields.length; index++) {
      const { localName, explicit, encode } = fields[index]!;
      const value = setValue(message as MessageFields, localName, explicit, hasDefaults);
      if (value !== undefined) text += encode(value);
    }
    return text;
  };
  // Before its fields: a message may contain itself.
  known.set(desc, encodeAll);
  for (const field of byNumber(desc)) {
    fields.push({ localName: field.localName, explicit: isExplicit(field), encode: createValueEncoder(field, known) });
  }
  return encodeAll;
}

function createValueEncoder(field: DescField, known: Map<DescMessage, ValueEncoder>): ValueEncoder {
  const { number } = field;
  if (field.fieldKind === "list") {
    if (field.listKind === "scalar" && field.scalar === ScalarType.SINT32) return createPackedEncoder(number);
    const element =
      field.listKind === "message"
        ? createDelimitedEncoder(number, createFieldsEncoder(field.message, known))
        : createScalarEncoder(number, ScalarType.STRING);
    return (value) => {
      const items = value as readonly unknown[];
      let text = "";
      for (let index = 0; index < items.length; index++) text += element(items[index]);
      return text;
    };
  }
  if (field.fieldKind === "message") return createDelimitedEncoder(number, createFieldsEncoder(field.message, known));
  return createScalarEncoder(number, field.fieldKind === "scalar" ? field.scalar : ScalarType.UINT32);
}

/** What has a length: it stands before the value. */
function createDelimitedEncoder(number: number, encode: ValueEncoder): ValueEncoder {
  const tag = tagOf(number, LENGTH_DELIMITED);
  const beginnings = Array.from({ length: SHORT }, (_, length) => tag + varint(length));
  return (value) => {
    const text = encode(value);
    const { length } = text;
    return (length < SHORT ? beginnings[length]! : tag + varint(length)) + text;
  };
}

/** Signed numbers, one after another in one field. */
function createPackedEncoder(number: number): ValueEncoder {
  return createDelimitedEncoder(number, (value) => {
    let text = "";
    for (const item of value as readonly number[]) text += zigzag(item);
    return text;
  });
}

function createScalarEncoder(number: number, scalar: ScalarType): ValueEncoder {
  switch (scalar) {
    case ScalarType.STRING:
      return createDelimitedEncoder(number, (value) => utf8(value as string));
    case ScalarType.BYTES:
      return createDelimitedEncoder(number, (value) => bytesAsText(value as Uint8Array));
    case ScalarType.DOUBLE: {
      const tag = tagOf(number, FIXED_64);
      return (value) => tag + float64(value as number);
    }
    case ScalarType.UINT64: {
      const tag = tagOf(number, VARINT);
      return (value) => tag + longVarint(value as bigint);
    }
    case ScalarType.SINT32: {
      const tag = tagOf(number, VARINT);
      return (value) => tag + zigzag(value as number);
    }
    default: {
      const tag = tagOf(number, VARINT);
      return (value) => tag + varint(Number(value));
    }
  }
}

function tagOf(number: number, wireType: number): string {
  return varint(number * 8 + wireType);
}
