import { BinaryReader } from "@bufbuild/protobuf/wire";

/** The numbers and bytes of a Protobuf message, by field number. */
export type Fields = ReadonlyMap<number, readonly (Uint8Array | number)[]>;

const VARINT = 0;
const LENGTH_DELIMITED = 2;

/** Splits a message into its fields without knowing its definition. @throws RangeError and others if the bytes are not a message */
export function fieldsOf(bytes: Uint8Array): Fields {
  const reader = new BinaryReader(bytes);
  const fields = new Map<number, (Uint8Array | number)[]>();
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (wireType !== VARINT && wireType !== LENGTH_DELIMITED) {
      reader.skip(wireType, field);
      continue;
    }
    const value = wireType === VARINT ? Number(reader.uint64()) : reader.bytes();
    const held = fields.get(field);
    if (held === undefined) fields.set(field, [value]);
    else held.push(value);
  }
  return fields;
}

const NO_FIELDS: Fields = new Map();

/** The fields of the message in a field; empty if there is none. */
export function messageIn(fields: Fields, field: number): Fields {
  const value = fields.get(field)?.[0];
  return value instanceof Uint8Array ? fieldsOf(value) : NO_FIELDS;
}

/** Every byte string of a field, in order. */
export function bytesIn(fields: Fields, field: number): Uint8Array[] {
  return (fields.get(field) ?? []).filter((value) => value instanceof Uint8Array);
}

/** The number in a field; 0 if there is none, the Protobuf default. */
export function numberIn(fields: Fields, field: number): number {
  const value = fields.get(field)?.[0];
  return typeof value === "number" ? value : 0;
}
