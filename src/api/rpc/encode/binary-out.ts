/** What it is made with, and kept at between messages. */
const USUAL_BYTES = 16 * 1024;
/** The most that a number takes with its tag. */
const NUMBER_BYTES = 20;
/** Bytes of one UTF-16 unit in UTF-8 at most. */
const UNIT_BYTES = 3;

/** Writes the fields of one message after another in the Protocol Buffers wire format. */
export class BinaryOut {
  #out = Buffer.allocUnsafe(USUAL_BYTES);
  #at = 0;

  /** Begins a message behind `head` zeroed bytes. */
  begin(head: number): void {
    this.#out.fill(0, 0, head);
    this.#at = head;
  }

  /** The head and the message, copied. */
  finish(): Buffer {
    const whole = Buffer.allocUnsafe(this.#at);
    this.#out.copy(whole, 0, 0, this.#at);
    if (this.#out.length > USUAL_BYTES) this.#out = Buffer.allocUnsafe(USUAL_BYTES);
    return whole;
  }

  uint32(tag: number, value: number): void {
    this.#reserve(NUMBER_BYTES);
    this.#varint(tag);
    this.#varint(value);
  }

  sint32(tag: number, value: number): void {
    this.#reserve(NUMBER_BYTES);
    this.#varint(tag);
    this.signed(value);
  }

  /** A signed number without a tag: small ones of either sign are short. */
  signed(value: number): void {
    this.#reserve(NUMBER_BYTES);
    this.#varint(((value << 1) ^ (value >> 31)) >>> 0);
  }

  uint64(tag: number, value: bigint): void {
    this.#reserve(NUMBER_BYTES);
    this.#varint(tag);
    let rest = value;
    while (rest > Number.MAX_SAFE_INTEGER) {
      this.#out[this.#at++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#varint(Number(rest));
  }

  double(tag: number, value: number): void {
    this.#reserve(NUMBER_BYTES);
    this.#varint(tag);
    this.#at = this.#out.writeDoubleLE(value, this.#at);
  }

  bytes(tag: number, value: Uint8Array): void {
    this.#reserve(NUMBER_BYTES + value.length);
    this.#varint(tag);
    this.#varint(value.length);
    this.#out.set(value, this.#at);
    this.#at += value.length;
  }

  text(tag: number, value: string): void {
    this.#reserve(NUMBER_BYTES + UNIT_BYTES * value.length);
    this.#varint(tag);
    const from = this.#at;
    // Most text is ASCII, whose length in bytes is known.
    this.#at += sizeOf(value.length);
    this.#at += this.#out.write(value, this.#at, "utf8");
    this.#setLength(from, sizeOf(value.length));
  }

  /** Begins a message within the message. @returns where, for `endNested` */
  beginNested(tag: number): number {
    this.#reserve(NUMBER_BYTES);
    this.#varint(tag);
    this.#at += 1;
    return this.#at - 1;
  }

  endNested(from: number): void {
    this.#setLength(from, 1);
  }

  /** Writes the length of what was written after `from`, for which so many bytes were left free. */
  #setLength(from: number, left: number): void {
    const end = this.#at;
    const length = end - from - left;
    const size = sizeOf(length);
    if (size !== left) {
      this.#reserve(NUMBER_BYTES);
      this.#out.copyWithin(from + size, from + left, end);
    }
    this.#at = from;
    this.#varint(length);
    this.#at += length;
  }

  /** A whole number from 0 to 2^53. */
  #varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.#out[this.#at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#out[this.#at++] = rest;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#out.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#at + bytes));
    this.#out.copy(larger, 0, 0, this.#at);
    this.#out = larger;
  }
}

/** Bytes of a length as a varint. */
function sizeOf(length: number): number {
  let size = 1;
  for (let rest = length; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
  return size;
}
