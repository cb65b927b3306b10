/** A view of exactly these bytes, wherever they lie in their buffer. Costs more than the readers below: use it for other widths. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Eight bytes of scratch space for integers: a view of an array's own memory costs ten times the write, and moves a small array
 * out of the engine's heap.
 */
const word = new Uint8Array(8);
const wordView = viewOf(word);

/** Unsigned 16-bit little-endian integer at `offset`. @throws RangeError outside the bytes */
export function readU16(bytes: Uint8Array, offset: number): number {
  assertRoom(bytes, offset, 2);
  return bytes[offset]! | (bytes[offset + 1]! << 8);
}

/** Signed 32-bit little-endian integer at `offset`. @throws RangeError outside the bytes */
export function readI32(bytes: Uint8Array, offset: number): number {
  assertRoom(bytes, offset, 4);
  return bytes[offset]! | (bytes[offset + 1]! << 8) | (bytes[offset + 2]! << 16) | (bytes[offset + 3]! << 24);
}

/** Unsigned 32-bit little-endian integer at `offset`. @throws RangeError outside the bytes */
export function readU32(bytes: Uint8Array, offset: number): number {
  return readI32(bytes, offset) >>> 0;
}

/** Unsigned 64-bit little-endian integer at `offset`. @throws RangeError outside the bytes */
export function readU64(bytes: Uint8Array, offset: number): bigint {
  assertRoom(bytes, offset, 8);
  for (let i = 0; i < 8; i++) word[i] = bytes[offset + i]!;
  return wordView.getBigUint64(0, true);
}

/** Unsigned 128-bit little-endian integer at `offset`. @throws RangeError outside the bytes */
export function readU128(bytes: Uint8Array, offset: number): bigint {
  return readU64(bytes, offset) | (readU64(bytes, offset + 8) << 64n);
}

/** Signed 128-bit little-endian integer at `offset`. @throws RangeError outside the bytes */
export function readI128(bytes: Uint8Array, offset: number): bigint {
  return BigInt.asIntN(128, readU128(bytes, offset));
}

/** Writes the lowest 64 bits of `value` as a little-endian integer. @throws RangeError outside the bytes */
export function writeU64(bytes: Uint8Array, offset: number, value: bigint): void {
  assertRoom(bytes, offset, 8);
  wordView.setBigUint64(0, value, true);
  for (let i = 0; i < 8; i++) bytes[offset + i] = word[i]!;
}

/** Writes `value`, a whole number below 2^32, as an unsigned 32-bit little-endian integer. @throws RangeError outside the bytes */
export function writeU32(bytes: Uint8Array, offset: number, value: number): void {
  assertRoom(bytes, offset, 4);
  for (let i = 0; i < 4; i++) bytes[offset + i] = value >>> (8 * i);
}

function assertRoom(bytes: Uint8Array, offset: number, length: number): void {
  if (offset < 0 || offset + length > bytes.length) throw new RangeError("outside the bytes");
}

/** True if `bytes` holds `expected` at `offset`. */
export function hasBytesAt(bytes: Uint8Array, offset: number, expected: Uint8Array): boolean {
  if (offset + expected.length > bytes.length) return false;
  for (let i = 0; i < expected.length; i++) if (bytes[offset + i] !== expected[i]) return false;
  return true;
}

/** True if both hold the same bytes. Not constant-time: never use it for secrets. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && hasBytesAt(a, 0, b);
}

/** Parses hexadecimal text, for constants such as discriminators. */
export function hex(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

const POOL_SIZE = 1 << 16;
let pool = /* @__PURE__ */ new ArrayBuffer(POOL_SIZE);
let poolView = /* @__PURE__ */ new DataView(pool);
let pooled = 0;

/**
 * Zeroed bytes from a shared block, for small and short-lived arrays: an array of more than 64 bytes with memory of its own
 * costs several times as much, and again when it is collected. Its `buffer` must not be transferred.
 *
 * @param before further bytes of its own in front of it, in the same memory
 */
export function pooledBytes(length: number, before = 0): Uint8Array {
  const size = before + length;
  if (size > POOL_SIZE >> 3) return new Uint8Array(new ArrayBuffer(size), before, length);
  if (pooled + size > POOL_SIZE) {
    pool = new ArrayBuffer(POOL_SIZE);
    poolView = new DataView(pool);
    pooled = 0;
  }
  const bytes = new Uint8Array(pool, pooled + before, length);
  pooled += size;
  return bytes;
}

/** A view of all memory around the bytes, which begin at their `byteOffset`. Of newly pooled bytes it is not made again. */
export function viewOfBuffer(bytes: Uint8Array): DataView {
  return bytes.buffer === pool ? poolView : new DataView(bytes.buffer);
}

/** One array holding all parts in order. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const out = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

const utf8 = new TextEncoder();

/** UTF-8 bytes of a text, such as a seed or a string to hash. */
export function textBytes(text: string): Uint8Array {
  return asciiBytes(text) ?? utf8.encode(text);
}

/** The bytes of a short ASCII text, for which a loop beats the encoder. Undefined for any other text. */
function asciiBytes(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(text.length);
  return putAscii(bytes, 0, text) ? bytes : undefined;
}

/** Writes an ASCII text at `offset`, one byte per character. @returns false for any other text, after writing a part of it perhaps */
export function putAscii(out: Uint8Array, offset: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0x7f) return false;
    out[offset + i] = code;
  }
  return true;
}
