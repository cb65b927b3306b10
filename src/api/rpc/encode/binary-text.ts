/**
 * Pieces of the Protocol Buffers wire format as texts whose characters are bytes. A message is joined of them and written as latin1: of
 * a few dozen short fields each costs a fraction of what a write into a buffer takes.
 */

const BYTES: readonly string[] = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));
/** Seven bits in each byte of a varint. */
const MORE = 0x80;
const MOST = 0x80 ** 2;
const ASCII = /^[\0-\x7f]*$/;

/** A whole number from 0 to 2^53. */
export function varint(value: number): string {
  if (value < MORE) return BYTES[value]!;
  if (value < MOST) return BYTES[(value & 0x7f) | MORE]! + BYTES[value >> 7]!;
  let text = "";
  let rest = value;
  while (rest >= MORE) {
    text += BYTES[(rest % MORE) | MORE]!;
    rest = Math.floor(rest / MORE);
  }
  return text + BYTES[rest]!;
}

/** A whole number from 0 to 2^64. */
export function longVarint(value: bigint): string {
  let text = "";
  let rest = value;
  while (rest > Number.MAX_SAFE_INTEGER) {
    text += BYTES[Number(rest & 0x7fn) | MORE]!;
    rest >>= 7n;
  }
  return text + varint(Number(rest));
}

/** A signed number of 32 bits: small ones of either sign are short. */
export function zigzag(value: number): string {
  return varint(((value << 1) ^ (value >> 31)) >>> 0);
}

const double = new Float64Array(1);
const octets = new Uint8Array(double.buffer);

/** Eight bytes, the lowest first. */
export function float64(value: number): string {
  double[0] = value;
  // Spread, the octets would each be an object on the way.
  const o = octets;
  return String.fromCharCode(o[0]!, o[1]!, o[2]!, o[3]!, o[4]!, o[5]!, o[6]!, o[7]!);
}

/** A text in UTF-8. Most are ASCII, and stay what they are. */
export function utf8(text: string): string {
  return ASCII.test(text) ? text : Buffer.from(text, "utf8").toString("latin1");
}

export function bytesAsText({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString("latin1");
}
