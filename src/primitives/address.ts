import { WeakTable } from "./addresses/weak-table.ts";
import { readI32 } from "./bytes.ts";
import { decodeBase58, encodeBase58 } from "./encoding/base58.ts";

const LENGTH = 32;
const interned = new WeakTable<Address>();
/** Addresses used lately, by four of their bytes: to compare one costs a tenth of a look-up by text. A power of two. */
const RECENT = 1 << 14;
const recent = new Array<Address | undefined>(RECENT).fill(undefined);

/** The 32 bytes as a string of one character each, which the engine hashes and compares natively. Uses Node's Buffer if there is one. */
const keyOf: (source: Uint8Array, offset: number) => string =
  typeof Buffer === "undefined"
    ? (source, offset) => String.fromCharCode(...source.subarray(offset, offset + LENGTH))
    : (source, offset) => Buffer.prototype.latin1Slice.call(source, offset, offset + LENGTH);

/** What an address keeps beside its value: of an `AddressTable`, or `owned`, its token accounts as an owner. */
export type Place = "single" | "pair" | "followed" | "templates" | "owned";

/** Reads and sets what an address keeps. It is no part of the address's value, and nobody else sees it. */
export let keptAt: (address: Address, place: Place) => unknown;
export let keepAt: (address: Address, place: Place, value: unknown) => void;

/**
 * A 32-byte account address. Each value has exactly one instance (except those made by `alone`), so addresses compare with
 * `===` and work as keys of a `Map` or `Set`. The base58 text is made once, on first use.
 */
export class Address {
  #single: unknown = undefined;
  #pair: unknown = undefined;
  #followed: unknown = undefined;
  #templates: unknown = undefined;
  #owned: unknown = undefined;
  // The bytes, four in each, the lowest first: an array would be three more objects, mostly in no cache of the processor. They are no `#`
  // fields, so that whatever compares addresses by their fields tells them apart.
  private readonly word0: number = 0;
  private readonly word1: number = 0;
  private readonly word2: number = 0;
  private readonly word3: number = 0;
  private readonly word4: number = 0;
  private readonly word5: number = 0;
  private readonly word6: number = 0;
  private readonly word7: number = 0;
  #bytes: Uint8Array | undefined = undefined;
  #base58: string | undefined = undefined;

  private constructor(source: Uint8Array, offset: number) {
    this.word0 = readI32(source, offset);
    this.word1 = readI32(source, offset + 4);
    this.word2 = readI32(source, offset + 8);
    this.word3 = readI32(source, offset + 12);
    this.word4 = readI32(source, offset + 16);
    this.word5 = readI32(source, offset + 20);
    this.word6 = readI32(source, offset + 24);
    this.word7 = readI32(source, offset + 28);
  }

  static {
    keptAt = (address, place) => {
      if (place === "single") return address.#single;
      if (place === "pair") return address.#pair;
      if (place === "followed") return address.#followed;
      return place === "templates" ? address.#templates : address.#owned;
    };
    keepAt = (address, place, value) => {
      if (place === "single") address.#single = value;
      else if (place === "pair") address.#pair = value;
      else if (place === "followed") address.#followed = value;
      else if (place === "templates") address.#templates = value;
      else address.#owned = value;
    };
  }

  /** The 32 bytes, as one array that is made on first use. Never written to. Where many addresses pass, use `write` or `isAt`. */
  get bytes(): Uint8Array {
    if (this.#bytes === undefined) {
      this.#bytes = new Uint8Array(LENGTH);
      this.write(this.#bytes, 0);
    }
    return this.#bytes;
  }

  /** The first of the bytes. */
  get first(): number {
    return this.word0 & 0xff;
  }

  /** Writes the 32 bytes at `offset`. @throws RangeError if `out` ends before them */
  write(out: Uint8Array, offset: number): void {
    if (offset < 0 || offset + LENGTH > out.length) throw new RangeError("outside the bytes");
    writeWord(out, offset, this.word0);
    writeWord(out, offset + 4, this.word1);
    writeWord(out, offset + 8, this.word2);
    writeWord(out, offset + 12, this.word3);
    writeWord(out, offset + 16, this.word4);
    writeWord(out, offset + 20, this.word5);
    writeWord(out, offset + 24, this.word6);
    writeWord(out, offset + 28, this.word7);
  }

  /** The same into a view, in less than half the time. @throws RangeError if it ends before them; some may be written by then */
  writeTo(view: DataView, offset: number): void {
    view.setInt32(offset, this.word0, true);
    view.setInt32(offset + 4, this.word1, true);
    view.setInt32(offset + 8, this.word2, true);
    view.setInt32(offset + 12, this.word3, true);
    view.setInt32(offset + 16, this.word4, true);
    view.setInt32(offset + 20, this.word5, true);
    view.setInt32(offset + 24, this.word6, true);
    view.setInt32(offset + 28, this.word7, true);
  }

  /** True if `source` holds the 32 bytes at `offset`. */
  isAt(source: Uint8Array, offset: number): boolean {
    return (
      offset >= 0 &&
      offset + LENGTH <= source.length &&
      readI32(source, offset) === this.word0 &&
      readI32(source, offset + 4) === this.word1 &&
      readI32(source, offset + 8) === this.word2 &&
      readI32(source, offset + 12) === this.word3 &&
      readI32(source, offset + 16) === this.word4 &&
      readI32(source, offset + 20) === this.word5 &&
      readI32(source, offset + 24) === this.word6 &&
      readI32(source, offset + 28) === this.word7
    );
  }

  /** The address in the 32 bytes at `offset` of `source`; the bytes are copied. @throws RangeError if `source` ends before them */
  static from(source: Uint8Array, offset = 0): Address {
    if (offset < 0 || offset + LENGTH > source.length) throw new RangeError("an address is 32 bytes");
    const place =
      (source[offset]! ^ (source[offset + 9]! << 4) ^ (source[offset + 17]! << 8) ^ (source[offset + 26]! << 6)) &
      (RECENT - 1);
    const last = recent[place];
    if (last?.isAt(source, offset)) return last;
    const key = keyOf(source, offset);
    let address = interned.get(key);
    if (address === undefined) {
      address = new Address(source, offset);
      interned.set(key, address);
    }
    recent[place] = address;
    return address;
  }

  /**
   * A new address that is used in one transaction only. It is not interned, which would cost more than everything else about it: only
   * this instance equals it.
   * @throws RangeError if there are not 32 bytes
   */
  static alone(bytes: Uint8Array): Address {
    if (bytes.length !== LENGTH) throw new RangeError("an address is 32 bytes");
    return new Address(bytes, 0);
  }

  /** Parses base58 text; undefined if it does not encode 32 bytes. */
  static parse(text: string): Address | undefined {
    if (text.length < 32 || text.length > 44) return undefined;
    const bytes = decodeBase58(text, LENGTH);
    return bytes?.length === LENGTH ? Address.from(bytes) : undefined;
  }

  /** Parses base58 text, for constants and tests. @throws TypeError if the text is not an address */
  static of(text: string): Address {
    const address = Address.parse(text);
    if (address === undefined) throw new TypeError(`not an address: ${text}`);
    return address;
  }

  /** Base58 text. */
  toString(): string {
    this.#base58 ??= encodeBase58(this.bytes);
    return this.#base58;
  }

  toJSON(): string {
    return this.toString();
  }
}

function writeWord(out: Uint8Array, at: number, word: number): void {
  out[at] = word;
  out[at + 1] = word >>> 8;
  out[at + 2] = word >>> 16;
  out[at + 3] = word >>> 24;
}

/** Compares addresses by their bytes, the order in which programs sort mints: negative if `a` comes first. */
export function compareAddresses(a: Address, b: Address): number {
  for (let i = 0; i < LENGTH; i++) {
    const difference = a.bytes[i]! - b.bytes[i]!;
    if (difference !== 0) return difference;
  }
  return 0;
}
