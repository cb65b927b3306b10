import type { ByteReader } from "../../primitives/byte-reader.ts";

/** Reads a compact-u16 length. @throws RangeError if it is cut or longer than three bytes */
export function readLength(from: ByteReader): number {
  let length = 0;
  for (let shift = 0; shift < 21; shift += 7) {
    const byte = from.u8();
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80) return length;
  }
  throw new RangeError("a length of more than three bytes");
}

/** Bytes of a compact-u16 length. */
export function lengthSize(length: number): number {
  return length < 0x80 ? 1 : length < 0x4000 ? 2 : 3;
}
