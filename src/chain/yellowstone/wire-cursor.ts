import { Address } from "../../primitives/address.ts";

const ADDRESS_BYTES = 32;
const MAX_VARINT_BYTES = 10;
/** Groups of seven bits that a double can sum exactly. */
const EXACT_GROUPS = 7;

/**
 * Reads the fields of a Protobuf message in place, without an object for each: a burst is tens of thousands of messages, and collecting
 * their garbage takes time from the turns that receive them.
 *
 * @throws RangeError from every method if the bytes end early
 * @see https://protobuf.dev/programming-guides/encoding/
 */
export class WireCursor {
  readonly bytes: Uint8Array;
  at = 0;
  /** The end of the current (innermost) message. */
  #end: number;
  #field = 0;
  #wireType = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#end = bytes.length;
  }

  /** The number of the field that `next` has come to. */
  get field(): number {
    return this.#field;
  }

  /** Goes to the next field. @returns false at the end of the message */
  next(): boolean {
    if (this.at >= this.#end) return false;
    const tag = this.uint();
    this.#field = Math.floor(tag / 8);
    this.#wireType = tag % 8;
    return true;
  }

  /** Goes into the message in this field. @returns where the message around it ends, for `leave` */
  enter(): number {
    const around = this.#end;
    const length = this.#length();
    this.#end = this.at + length;
    return around;
  }

  /** Continues after the message that was entered. */
  leave(around: number): void {
    this.at = this.#end;
    this.#end = around;
  }

  /** An unsigned integer; exact up to 2^53. */
  uint(): number {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < MAX_VARINT_BYTES; i++) {
      const byte = this.#byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
    throw new RangeError("an integer of more than ten bytes");
  }

  /** An unsigned integer of 64 bits. */
  uint64(): bigint {
    const from = this.at;
    const value = this.uint();
    if (this.at - from <= EXACT_GROUPS) return BigInt(value);
    let exact = 0n;
    for (let at = this.at - 1; at >= from; at--) exact = (exact << 7n) | BigInt(this.bytes[at]! & 127);
    return BigInt.asUintN(64, exact);
  }

  /** The bytes in this field, not copied. */
  view(): Uint8Array {
    const length = this.#length();
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  /** The address in this field. */
  address(): Address {
    if (this.#length() !== ADDRESS_BYTES) throw new RangeError("an address is 32 bytes");
    this.at += ADDRESS_BYTES;
    return Address.from(this.bytes, this.at - ADDRESS_BYTES);
  }

  /** Passes over this field. */
  skip(): void {
    if (this.#wireType === 0) this.uint();
    else if (this.#wireType === 2) {
      const length = this.#length();
      this.at += length;
    } else if (this.#wireType === 1) this.#pass(8);
    else if (this.#wireType === 5) this.#pass(4);
    else throw new RangeError(`a field of wire type ${this.#wireType}`);
  }

  #length(): number {
    if (this.#wireType !== 2) throw new RangeError(`field ${this.#field} has no length`);
    const length = this.uint();
    if (length > this.#end - this.at) throw new RangeError("the message ends early");
    return length;
  }

  #pass(length: number): void {
    if (length > this.#end - this.at) throw new RangeError("the message ends early");
    this.at += length;
  }

  #byte(): number {
    if (this.at >= this.#end) throw new RangeError("the message ends early");
    return this.bytes[this.at++]!;
  }
}
