import type { Address } from "../../primitives/address.ts";
import { compareIntegers } from "../../primitives/integer.ts";
import type { AccountNotice, FeedListener } from "../state/account-feed.ts";
import { sizeOf } from "../state/account-versions.ts";

/** The repeated updates of one slot. */
interface RepeatedSlot {
  parent: bigint | undefined;
  /** Its bank was replaced: the reports of the first one are void. */
  isReplaced: boolean;
  /** The last change of each account. */
  readonly changes: Map<Address, AccountNotice>;
}

/** Upper bound of the data of changes that are kept: more than a chain writes in the slots that are repeated. Bytes. */
const MAX_BYTES = 512 * 1024 * 1024;

/**
 * The repetition of what a stream may have missed, from slots that it has reported before. A slot is passed on only once it is over: passed
 * on change by change, known states would go back to those within the slot, and to a replaced bank.
 */
export class StreamReplay {
  /** The newest slot before the cut. */
  readonly upTo: bigint;
  /** The first slot requested: a server may name any slot, and earlier ones are not kept. */
  readonly #from: bigint;
  /** How many updates of each slot had been received before it. */
  readonly #before: ReadonlyMap<bigint, number>;
  readonly #slots = new Map<bigint, RepeatedSlot>();
  #bytes = 0;

  constructor(from: bigint, upTo: bigint, before: ReadonlyMap<bigint, number>) {
    this.#from = from;
    this.upTo = upTo;
    this.#before = before;
  }

  /** The same replay from its beginning, after another cut. */
  again(): StreamReplay {
    return new StreamReplay(this.#from, this.upTo, this.#before);
  }

  has(slot: bigint): boolean {
    return slot <= this.upTo;
  }

  keepParent(slot: bigint, parent: bigint): void {
    const repeated = this.#of(slot);
    if (repeated !== undefined) repeated.parent = parent;
  }

  keepChange(notice: AccountNotice): void {
    const changes = this.#of(notice.slot)?.changes;
    const known = changes?.get(notice.address);
    if (changes === undefined || (known !== undefined && known.order >= notice.order)) return;
    changes.set(notice.address, notice);
    this.#bytes += sizeOf(notice.account) - sizeOf(known?.account);
    if (this.#isTooLarge) this.#slots.clear();
  }

  /** Another bank takes the slot. */
  replace(slot: bigint): void {
    const repeated = this.#of(slot);
    if (repeated === undefined) return;
    repeated.isReplaced = true;
    this.#release(repeated);
    repeated.changes.clear();
  }

  /** The slot has failed. */
  drop(slot: bigint): void {
    const repeated = this.#slots.get(slot);
    if (repeated !== undefined) this.#release(repeated);
    this.#slots.delete(slot);
  }

  /**
   * The slot is over. Nothing of it is passed on if it holds less than was received before.
   *
   * @param updates how many updates of each slot the replay has held
   * @returns how many accounts were passed on
   */
  pass(
    slot: bigint,
    updates: ReadonlyMap<bigint, number>,
    listener: FeedListener | undefined,
    addresses: ReadonlySet<Address>,
  ): number {
    const repeated = this.#slots.get(slot);
    if (repeated === undefined || this.#isShort(slot, updates)) return 0;
    this.drop(slot);
    const { parent, isReplaced, changes } = repeated;
    if (parent !== undefined) listener?.onSlot(slot, parent);
    // Those that change in the new bank too are not seen without it.
    if (isReplaced) listener?.onReplaced(slot, new Set([...addresses].filter((address) => !changes.has(address))));
    for (const notice of changes.values()) listener?.onAccount(notice);
    return isReplaced ? addresses.size : changes.size;
  }

  /** The replay is complete. @returns how many accounts were passed on */
  passAll(
    updates: ReadonlyMap<bigint, number>,
    listener: FeedListener | undefined,
    addresses: ReadonlySet<Address>,
  ): number {
    let passed = 0;
    const slots = [...this.#slots.keys()].sort(compareIntegers);
    for (const slot of slots) passed += this.pass(slot, updates, listener, addresses);
    return passed;
  }

  /**
   * Why it does not hold everything that was received before the cut; undefined if it does.
   *
   * @param first the first slot that it showed from its beginning
   * @param updates how many updates of each slot it held
   */
  lack(first: bigint, updates: ReadonlyMap<bigint, number>): string | undefined {
    if (first > this.upTo) return "it begins too late";
    if (this.#isTooLarge) return "it holds more than a chain writes";
    for (const slot of this.#before.keys()) {
      const isRepeated = slot > first || slot === this.upTo;
      if (isRepeated && slot <= this.upTo && this.#isShort(slot, updates)) return `it lacks updates of slot ${slot}`;
    }
    return undefined;
  }

  #isShort(slot: bigint, updates: ReadonlyMap<bigint, number>): boolean {
    return (updates.get(slot) ?? 0) < (this.#before.get(slot) ?? 0);
  }

  /** Final: what was kept is gone. */
  get #isTooLarge(): boolean {
    return this.#bytes > MAX_BYTES;
  }

  #release({ changes }: RepeatedSlot): void {
    for (const { account } of changes.values()) this.#bytes -= sizeOf(account);
  }

  /** Undefined if nothing is kept of the slot. */
  #of(slot: bigint): RepeatedSlot | undefined {
    if (slot < this.#from || this.#isTooLarge) return undefined;
    let repeated = this.#slots.get(slot);
    if (repeated === undefined) {
      repeated = { parent: undefined, isReplaced: false, changes: new Map() };
      this.#slots.set(slot, repeated);
    }
    return repeated;
  }
}
