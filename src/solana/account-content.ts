import type { Address } from "../primitives/address.ts";
import { PackedBytes } from "../primitives/encoding/packed-bytes.ts";
import type { Account } from "./account.ts";

/** Longer data stays an array of bytes: it is rare, and its text would be a large object of the heap. Bytes. */
const MAX_TEXT_BYTES = 64 * 1024;

/** Characters of so much data in base64. */
const MAX_BASE64 = (MAX_TEXT_BYTES / 3) * 4;

/**
 * Longer data is not kept as text beside its bytes: arrays of ticks and bins are, and a market has several. Of others the text stays, since
 * texts are compared in a fifth of the time that making one of bytes takes. Bytes.
 */
export const MOST_KEPT_TWICE = 2_048;

/** So few bytes are compared faster one by one. */
const FEW_BYTES = 48;

/** Of wallets and other accounts without data, which most builds look at: one array serves them all. */
const NO_BYTES = new Uint8Array(0);

/** What an account holds beside its data. */
type AccountFacts = Omit<Account, "data">;

/**
 * An account whose data is text, one character a byte, until it is first used as bytes.
 *
 * A stream reports tens of thousands of changes a second, and few of them are ever priced. As an array of bytes each would be an
 * allocation outside the heap, and while the collector marks, the engine takes a step of up to 10 ms at each of those. Text
 * lies in the heap, and is compared without being turned into bytes.
 *
 * `data` is a getter of the class: spreading an account leaves it out.
 */
export class KeptAccount implements Account {
  readonly address: Address;
  readonly owner: Address;
  readonly lamports: bigint;
  readonly executable: boolean;
  readonly slot: bigint;
  /** The data as text or packed; undefined once long data is in `#bytes`. */
  #kept: string | PackedBytes | undefined;
  /** Undefined until the data is used, and while it is packed. */
  #bytes: Uint8Array | undefined;

  private constructor({ address, owner, lamports, executable, slot }: AccountFacts, text: string) {
    this.address = address;
    this.owner = owner;
    this.lamports = lamports;
    this.executable = executable;
    this.slot = slot;
    this.#kept = text;
  }

  /** Keeps a copy of the data. */
  static of(facts: AccountFacts, data: Uint8Array): Account {
    if (data.length > MAX_TEXT_BYTES) return { ...facts, data: new Uint8Array(data) };
    return new KeptAccount(facts, textOf(data));
  }

  /** The same of data in base64, which becomes text without bytes between: half the time. */
  static ofBase64(facts: AccountFacts, encoded: string): Account {
    const text = encoded.length > MAX_BASE64 ? undefined : textOfBase64(encoded);
    return text === undefined ? KeptAccount.of(facts, Buffer.from(encoded, "base64")) : new KeptAccount(facts, text);
  }

  /** True if both hold the same bytes, without turning text into bytes. */
  static haveSameData(a: Account, b: Account): boolean {
    const [one, other] = [KeptAccount.#keptOf(a), KeptAccount.#keptOf(b)];
    if (one instanceof PackedBytes || other instanceof PackedBytes) {
      if (one instanceof PackedBytes && other instanceof PackedBytes) return one.equals(other);
      return Buffer.compare(KeptAccount.#unpackedOf(a), KeptAccount.#unpackedOf(b)) === 0;
    }
    if (one === undefined && other === undefined) return Buffer.compare(a.data, b.data) === 0;
    return (one ?? textOf(a.data)) === (other ?? textOf(b.data));
  }

  /** The length of the data in bytes, without turning text into bytes. */
  static sizeOf(account: Account): number {
    return (KeptAccount.#keptOf(account) ?? account.data).length;
  }

  /**
   * Packs long data of an account that has not changed for a while, if that saves a quarter of it: most arrays of ticks or bins are nearly
   * empty. From then on `data` unpacks it, and does not keep it for longer than until the collector's next full run.
   */
  static pack(account: Account): void {
    if (!(account instanceof KeptAccount) || KeptAccount.sizeOf(account) <= MOST_KEPT_TWICE) return;
    const kept = account.#kept;
    if (kept instanceof PackedBytes) return;
    const packed = PackedBytes.of(kept === undefined ? account.#bytes! : bytesOf(kept));
    if (packed === undefined) return;
    account.#kept = packed;
    account.#bytes = undefined;
  }

  static #keptOf(account: Account): string | PackedBytes | undefined {
    return account instanceof KeptAccount ? account.#kept : undefined;
  }

  /** The bytes, without changing how the account keeps them. */
  static #unpackedOf(account: Account): Uint8Array {
    const kept = KeptAccount.#keptOf(account);
    return typeof kept === "string" ? bytesOf(kept) : account.data;
  }

  get data(): Uint8Array {
    return this.#bytes ?? this.#open();
  }

  #open(): Uint8Array {
    const kept = this.#kept!;
    if (typeof kept !== "string") return kept.bytes;
    this.#bytes = bytesOf(kept);
    if (kept.length > MOST_KEPT_TWICE) this.#kept = undefined;
    return this.#bytes;
  }
}

/** True if both are equal in everything but the slot they were read at, or both are missing. */
export function hasSameContent(a: Account | null, b: Account | null): boolean {
  if (a === null || b === null || a === b) return a === b;
  return (
    a.lamports === b.lamports && a.owner === b.owner && a.executable === b.executable && KeptAccount.haveSameData(a, b)
  );
}

/** True if both have the same owner and length, and the same bytes in all of the ranges: from the first up to, and without, the end. */
export function hasSameParts(a: Account, b: Account, ranges: readonly (readonly [number, number])[]): boolean {
  const [one, other] = [a.data, b.data];
  const { length } = one;
  if (a.owner !== b.owner || length !== other.length) return false;
  for (const [first, last] of ranges) {
    if (first >= length) continue;
    const end = Math.min(last, length);
    if (end - first <= FEW_BYTES) {
      for (let at = first; at < end; at++) if (one[at] !== other[at]) return false;
      continue;
    }
    if (Buffer.prototype.compare.call(one, other, first, end, first, end) !== 0) return false;
  }
  return true;
}

/** Undefined for what the engine refuses; Node's buffers take any text. */
function textOfBase64(encoded: string): string | undefined {
  try {
    return atob(encoded);
  } catch {
    return undefined;
  }
}

const textOf = (data: Uint8Array): string => Buffer.prototype.latin1Slice.call(data, 0, data.length);

function bytesOf(text: string): Uint8Array {
  if (text === "") return NO_BYTES;
  const bytes = new Uint8Array(text.length);
  Buffer.prototype.latin1Write.call(bytes, text, 0, text.length);
  return bytes;
}
