import type { Address } from "../../primitives/address.ts";
import type { AccountNotice, FeedListener } from "../state/account-feed.ts";

/** What is repeated of one slot. */
interface RepeatedSlot {
  parent: bigint | undefined;
  /** Its bank was replaced: what was reported of the first one is void. */
  isReplaced: boolean;
  /** The last change of each account. */
  readonly changes: Map<Address, AccountNotice>;
}

/**
 * The repetition of what a stream may have missed, from slots that it has reported before. A slot is passed on once it is over: account by
 * account and change by change, everything held would go back to the states within its slot, and to a bank that was replaced.
 */
export class StreamReplay {
  /** The newest slot before the cut. */
  readonly upTo: bigint;
  /** How many updates of each slot had been received before it. */
  readonly #before: ReadonlyMap<bigint, number>;
  readonly #slots = new Map<bigint, RepeatedSlot>();

  constructor(upTo: bigint, before: ReadonlyMap<bigint, number>) {
    this.upTo = upTo;
    this.#before = before;
  }

  /** The same from its beginning, after another cut. */
  again(): StreamReplay {
    return new StreamReplay(this.upTo, this.#before);
  }

  has(slot: bigint): boolean {
    return slot <= this.upTo;
  }

  keepParent(slot: bigint, parent: bigint): void {
    this.#of(slot).parent = parent;
  }

  keepChange(notice: AccountNotice): void {
    const { changes } = this.#of(notice.slot);
    const known = changes.get(notice.address);
    if (known === undefined || known.order < notice.order) changes.set(notice.address, notice);
  }

  /** Another bank takes the slot. */
  replace(slot: bigint): void {
    const repeated = this.#of(slot);
    repeated.isReplaced = true;
    repeated.changes.clear();
  }

  /** The slot has failed. */
  drop(slot: bigint): void {
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
    this.#slots.delete(slot);
    const { parent, isReplaced, changes } = repeated;
    if (parent !== undefined) listener?.onSlot(slot, parent);
    // Those that change in the new bank too are not seen without it.
    if (isReplaced) listener?.onReplaced(slot, new Set([...addresses].filter((address) => !changes.has(address))));
    for (const notice of changes.values()) listener?.onAccount(notice);
    return isReplaced ? addresses.size : changes.size;
  }

  /** Everything is repeated, as far as there was anything. @returns how many accounts were passed on */
  passAll(
    updates: ReadonlyMap<bigint, number>,
    listener: FeedListener | undefined,
    addresses: ReadonlySet<Address>,
  ): number {
    let passed = 0;
    const slots = [...this.#slots.keys()].sort((a, b) => (a < b ? -1 : 1));
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
    for (const slot of this.#before.keys()) {
      const isRepeated = slot > first || slot === this.upTo;
      if (isRepeated && slot <= this.upTo && this.#isShort(slot, updates)) return `it lacks updates of slot ${slot}`;
    }
    return undefined;
  }

  #isShort(slot: bigint, updates: ReadonlyMap<bigint, number>): boolean {
    return (updates.get(slot) ?? 0) < (this.#before.get(slot) ?? 0);
  }

  #of(slot: bigint): RepeatedSlot {
    let repeated = this.#slots.get(slot);
    if (repeated === undefined) {
      repeated = { parent: undefined, isReplaced: false, changes: new Map() };
      this.#slots.set(slot, repeated);
    }
    return repeated;
  }
}
