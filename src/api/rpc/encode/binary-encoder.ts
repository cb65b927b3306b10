import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import type { AnswerBytes } from "../../http/lane/answer-bytes.ts";
import { byNumber, isEncodable, isExplicit, type MessageFields, mayHaveDefaults, setValue } from "./fields.ts";

/** Writes a message, or its fields. */
export type BinaryEncoder = (message: object, out: AnswerBytes) => void;

type ValueEncoder = (value: unknown, out: AnswerBytes) => void;

const LENGTH_DELIMITED = 2;
const FIXED_64 = 1;
const VARINT = 0;

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
  const encodeAll: ValueEncoder = (message, out) => {
    const hasDefaults = mayHaveDefaults(message as object);
    for (let index = 0; index < fields.length; index++) {
      const { localName, explicit, encode } = fields[index]!;
      const value = setValue(message as MessageFields, localName, explicit, hasDefaults);
      if (value !== undefined) encode(value, out);
    }
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
    return (value, out) => {
      const items = value as readonly unknown[];
      for (let index = 0; index < items.length; index++) element(items[index], out);
    };
  }
  if (field.fieldKind === "message") return createDelimitedEncoder(number, createFieldsEncoder(field.message, known));
  return createScalarEncoder(number, field.fieldKind === "scalar" ? field.scalar : ScalarType.UINT32);
}

/** What has a length: it stands before the value. */
function createDelimitedEncoder(number: number, encode: ValueEncoder): ValueEncoder {
  const tag = tagOf(number, LENGTH_DELIMITED);
  return (value, out) => {
    out.varint(tag);
    const part = out.beginPart();
    encode(value, out);
    out.endPart(part);
  };
}

/** Signed numbers, one after another in one field. */
function createPackedEncoder(number: number): ValueEncoder {
  return createDelimitedEncoder(number, (value, out) => {
    for (const item of value as readonly number[]) out.varint(zigzag(item));
  });
}

function createScalarEncoder(number: number, scalar: ScalarType): ValueEncoder {
  switch (scalar) {
    case ScalarType.STRING: {
      const tag = tagOf(number, LENGTH_DELIMITED);
      return (value, out) => {
        out.varint(tag);
        out.delimitedText(value as string);
      };
    }
    case ScalarType.BYTES: {
      const tag = tagOf(number, LENGTH_DELIMITED);
      return (value, out) => {
        out.varint(tag);
        out.varint((value as Uint8Array).length);
        out.bytes(value as Uint8Array);
      };
    }
    case ScalarType.DOUBLE: {
      const tag = tagOf(number, FIXED_64);
      return (value, out) => {
        out.varint(tag);
        out.float64(value as number);
      };
    }
    case ScalarType.UINT64: {
      const tag = tagOf(number, VARINT);
      return (value, out) => {
        out.varint(tag);
        out.longVarint(value as bigint);
      };
    }
    case ScalarType.SINT32: {
      const tag = tagOf(number, VARINT);
      return (value, out) => {
        out.varint(tag);
        out.varint(zigzag(value as number));
      };
    }
    default: {
      const tag = tagOf(number, VARINT);
      return (value, out) => {
        out.varint(tag);
        out.varint(Number(value));
      };
    }
  }
}

const tagOf = (number: number, wireType: number): number => number * 8 + wireType;

/** A signed number of 32 bits as an unsigned one: small ones of either sign are small. */
const zigzag = (value: number): number => ((value << 1) ^ (value >> 31)) >>> 0;
