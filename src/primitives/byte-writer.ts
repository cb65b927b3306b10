import { textBytes, viewOf } from "./bytes.ts";

const INITIAL_SIZE = 512;

/** Appends little-endian values to a growing buffer. */
export class ByteWriter {
  #bytes = new Uint8Array(INITIAL_SIZE);
  #view = viewOf(this.#bytes);
  #length = 0;

  u8(value: number): this {
    const at = this.#reserve(1);
    this.#bytes[at] = value;
    return this;
  }

  u16(value: number): this {
    const at = this.#reserve(2);
    this.#view.setUint16(at, value, true);
    return this;
  }

  u32(value: number): this {
    const at = this.#reserve(4);
    this.#view.setUint32(at, value, true);
    return this;
  }

  u64(value: bigint): this {
    const at = this.#reserve(8);
    this.#view.setBigUint64(at, value, true);
    return this;
  }

  f64(value: number): this {
    const at = this.#reserve(8);
    this.#view.setFloat64(at, value, true);
    return this;
  }

  bytes(value: Uint8Array): this {
    const at = this.#reserve(value.length);
    this.#bytes.set(value, at);
    return this;
  }

  /** UTF-8, at most 255 bytes, behind its length. */
  text(value: string): this {
    const encoded = textBytes(value);
    return this.u8(encoded.length).bytes(encoded);
  }

  /** What was written. Shares memory with the writer. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Makes room and returns where it is. The buffer may be another one afterwards. */
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
