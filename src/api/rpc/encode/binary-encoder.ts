import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { BinaryOut } from "./binary-out.ts";
import { byNumber, isEncodable, isExplicit, type MessageFields, setValue } from "./fields.ts";

/** Encodes a message or its fields. `head` zeroed bytes come before it. */
type BinaryEncoder = (message: object, head?: number) => Buffer;

type WriteFields = (out: BinaryOut, fields: MessageFields) => void;
type WriteValue = (out: BinaryOut, value: unknown) => void;

const LENGTH_DELIMITED = 2;
const FIXED_64 = 1;
const VARINT = 0;

/** What every encoder writes into; nothing in it outlives a call. */
const shared = new BinaryOut();

/**
 * Compiles a Protocol Buffers encoder from the descriptor of a response. It writes what `toBinary` writes, and takes fields as
 * well as messages: no message has to be made of them first. Undefined if the message contains what it does not support.
 */
export function createBinaryEncoder(desc: DescMessage): BinaryEncoder | undefined {
  if (!isEncodable(desc)) return undefined;
  const write = createFieldsWriter(desc, new Map());
  return (message, head = 0) => {
    shared.begin(head);
    write(shared, message as MessageFields);
    return shared.finish();
  };
}

function createFieldsWriter(desc: DescMessage, known: Map<DescMessage, WriteFields>): WriteFields {
  const made = known.get(desc);
  if (made !== undefined) return made;
  const fields: { readonly localName: string; readonly explicit: boolean; readonly write: WriteValue }[] = [];
  const writeAll: WriteFields = (out, message) => {
    for (let index = 0; index < fields.length; index++) {
      const { localName, explicit, write } = fields[index]!;
      const value = setValue(message, localName, explicit);
      if (value !== undefined) write(out, value);
    }
  };
  // Before its fields: a message may contain itself.
  known.set(desc, writeAll);
  for (const field of byNumber(desc)) {
    fields.push({ localName: field.localName, explicit: isExplicit(field), write: createValueWriter(field, known) });
  }
  return writeAll;
}

function createValueWriter(field: DescField, known: Map<DescMessage, WriteFields>): WriteValue {
  const { number } = field;
  if (field.fieldKind === "list") {
    if (field.listKind === "scalar" && field.scalar === ScalarType.SINT32) return createPackedWriter(number);
    const element =
      field.listKind === "message"
        ? createNestedWriter(number, createFieldsWriter(field.message, known))
        : createScalarWriter(number, ScalarType.STRING);
    return (out, value) => {
      for (const item of value as readonly unknown[]) element(out, item);
    };
  }
  if (field.fieldKind === "message") return createNestedWriter(number, createFieldsWriter(field.message, known));
  return createScalarWriter(number, field.fieldKind === "scalar" ? field.scalar : ScalarType.UINT32);
}

function createNestedWriter(number: number, write: WriteFields): WriteValue {
  const tag = tagOf(number, LENGTH_DELIMITED);
  return (out, value) => {
    const from = out.beginNested(tag);
    write(out, value as MessageFields);
    out.endNested(from);
  };
}

/** Signed numbers, one after another in one field. */
function createPackedWriter(number: number): WriteValue {
  const tag = tagOf(number, LENGTH_DELIMITED);
  return (out, value) => {
    const from = out.beginNested(tag);
    for (const item of value as readonly number[]) out.signed(item);
    out.endNested(from);
  };
}

function createScalarWriter(number: number, scalar: ScalarType): WriteValue {
  switch (scalar) {
    case ScalarType.STRING: {
      const tag = tagOf(number, LENGTH_DELIMITED);
      return (out, value) => out.text(tag, value as string);
    }
    case ScalarType.BYTES: {
      const tag = tagOf(number, LENGTH_DELIMITED);
      return (out, value) => out.bytes(tag, value as Uint8Array);
    }
    case ScalarType.DOUBLE: {
      const tag = tagOf(number, FIXED_64);
      return (out, value) => out.double(tag, value as number);
    }
    case ScalarType.UINT64: {
      const tag = tagOf(number, VARINT);
      return (out, value) => out.uint64(tag, value as bigint);
    }
    case ScalarType.SINT32: {
      const tag = tagOf(number, VARINT);
      return (out, value) => out.sint32(tag, value as number);
    }
    default: {
      const tag = tagOf(number, VARINT);
      return (out, value) => out.uint32(tag, Number(value));
    }
  }
}

function tagOf(number: number, wireType: number): number {
  return number * 8 + wireType;
}
