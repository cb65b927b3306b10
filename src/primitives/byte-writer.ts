import type { Address } from "./address.ts";
import { textBytes, viewOf, writeU32 } from "./bytes.ts";

const INITIAL_SIZE = 512;

/** Appends little-endian values to a growing buffer. */
export class ByteWriter {
  /** Used again by each content that it has room for. */
  readonly #home: Uint8Array;
  readonly #homeView: DataView;
  #bytes: Uint8Array;
  #view: DataView;
  #length = 0;

  constructor(home: Uint8Array = new Uint8Array(INITIAL_SIZE)) {
    this.#home = home;
    this.#homeView = viewOf(home);
    this.#bytes = home;
    this.#view = this.#homeView;
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  u8(value: number): this {
    const at = this.#reserve(1);
    this.#bytes[at] = value;
    return this;
  }

  u16(value: number): this {
    const at = this.#reserve(2);
    this.#bytes[at] = value;
    this.#bytes[at + 1] = value >>> 8;
    return this;
  }

  u32(value: number): this {
    const at = this.#reserve(4);
    writeU32(this.#bytes, at, value);
    return this;
  }

  u64(value: bigint): this {
    const at = this.#reserve(8);
    this.#view.setBigUint64(at, value, true);
    return this;
  }

  address(value: Address): this {
    const at = this.#reserve(32);
    value.writeTo(this.#view, at);
    return this;
  }

  bytes(value: Uint8Array): this {
    const at = this.#reserve(value.length);
    this.#bytes.set(value, at);
    return this;
  }

  /** UTF-8, at most 255 bytes, behind its length. */
  text(value: string): this {
    const start = this.#reserve(1 + value.length);
    this.#bytes[start] = value.length;
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i);
      if (code > 0x7f) return this.#encodedText(start, value);
      this.#bytes[start + 1 + i] = code;
    }
    return this;
  }

  /** Discards the content and reuses the memory. */
  clear(): this {
    this.#bytes = this.#home;
    this.#view = this.#homeView;
    this.#length = 0;
    return this;
  }

  /** The bytes written so far. Shares memory with the writer. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #encodedText(start: number, value: string): this {
    const encoded = textBytes(value);
    this.#length = start;
    return this.u8(encoded.length).bytes(encoded);
  }

  /** Makes room and returns its offset. May replace the buffer. */
  #reserve(size: number): number {
    const at = this.#length;
    this.#length += size;
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length));
      larger.set(this.#bytes);
      this.#bytes = larger;
      this.#view = viewOf(larger);
    }
    return at;
  }
}
