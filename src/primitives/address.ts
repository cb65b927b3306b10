import bs58 from "bs58";

const LENGTH = 32;
const interned = new Map<string, WeakRef<Address>>();
const sweep = new FinalizationRegistry<string>((key) => {
  if (interned.get(key)?.deref() === undefined) interned.delete(key);
});

/** The 32 bytes as a text of one character each: hashed and compared by the engine itself. Native where Node's Buffer is. */
const keyOf: (source: Uint8Array, offset: number) => string =
  typeof Buffer === "undefined"
    ? (source, offset) => String.fromCharCode(...source.subarray(offset, offset + LENGTH))
    : (source, offset) => Buffer.prototype.latin1Slice.call(source, offset, offset + LENGTH);

/**
 * A 32-byte account address. There is exactly one instance per value (but for those of `alone`), so addresses compare with
 * `===` and serve as keys of a `Map` or `Set`; the base58 text is made once, when first asked for.
 */
export class Address {
  /** The 32 bytes. Never written to. */
  readonly bytes: Uint8Array;
  #base58: string | undefined;

  private constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** The address of 32 bytes found at `offset` of `source`; the bytes are copied. @throws RangeError when they are not there */
  static from(source: Uint8Array, offset = 0): Address {
    if (offset < 0 || offset + LENGTH > source.length) throw new RangeError("an address is 32 bytes");
    const key = keyOf(source, offset);
    const known = interned.get(key)?.deref();
    if (known !== undefined) return known;
    const address = new Address(source.slice(offset, offset + LENGTH));
    interned.set(key, new WeakRef(address));
    sweep.register(address, key);
    return address;
  }

  /**
   * An address that is new and lives in one transaction only, made of the bytes as they are. It is not kept for finding it
   * again, which costs more than all else about it: nothing but this very instance equals it.
   * @throws RangeError when they are not 32
   */
  static alone(bytes: Uint8Array): Address {
    if (bytes.length !== LENGTH) throw new RangeError("an address is 32 bytes");
    return new Address(bytes);
  }

  /** The address written in base58, or undefined when the text is not 32 bytes of base58. */
  static parse(text: string): Address | undefined {
    if (text.length < 32 || text.length > 44) return undefined;
    const bytes = bs58.decodeUnsafe(text);
    return bytes?.length === LENGTH ? Address.from(bytes) : undefined;
  }

  /** The address written in base58, for constants and tests. @throws TypeError when the text is not an address */
  static of(text: string): Address {
    const address = Address.parse(text);
    if (address === undefined) throw new TypeError(`not an address: ${text}`);
    return address;
  }

  /** Base58 text, as people and JSON write it. */
  toString(): string {
    this.#base58 ??= bs58.encode(this.bytes);
    return this.#base58;
  }

  toJSON(): string {
    return this.toString();
  }
}

/** Orders addresses by their bytes, as programs do when they sort mints: negative when `a` comes first. */
export function compareAddresses(a: Address, b: Address): number {
  for (let i = 0; i < LENGTH; i++) {
    const difference = a.bytes[i]! - b.bytes[i]!;
    if (difference !== 0) return difference;
  }
  return 0;
}
