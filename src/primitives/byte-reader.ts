import { viewOf } from "./bytes.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Reads little-endian values one after another. Every method throws RangeError past the end. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }

  /** True if nothing is left to read. */
  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  u8(): number {
    return this.#view.getUint8(this.#advance(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#advance(2), true);
  }

  u32(): number {
    return this.#view.getUint32(this.#advance(4), true);
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#advance(8), true);
  }

  bytes(length: number): Uint8Array {
    const at = this.#advance(length);
    if (at + length > this.#bytes.length) throw new RangeError("past the end");
    return this.#bytes.subarray(at, at + length);
  }

  text(): string {
    const bytes = this.bytes(this.u8());
    let text = "";
    for (const byte of bytes) {
      // A decoder takes longer to call than short names take to read.
      if (byte >= 0x80) return utf8.decode(bytes);
      text += String.fromCharCode(byte);
    }
    return text;
  }

  #advance(size: number): number {
    const at = this.#at;
    this.#at += size;
    return at;
  }
}
