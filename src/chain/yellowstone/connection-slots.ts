/** Upper bound of slots remembered of one connection. */
const MAX_SLOTS = 128;

/** What one connection of a stream has delivered, slot by slot. */
export class ConnectionSlots {
  /** The first slot seen from its beginning. */
  first: bigint | undefined;
  /** Slot statuses received. */
  statuses = 0;
  readonly #begun = new Set<bigint>();
  readonly #banks = new Map<bigint, bigint>();
  /** Account updates received of each slot. */
  readonly #updates = new Map<bigint, number>();

  get updates(): ReadonlyMap<bigint, number> {
    return this.#updates;
  }

  hasBegun(slot: bigint): boolean {
    return this.#begun.has(slot);
  }

  /** @returns false if the slot's beginning was seen before */
  begin(slot: bigint): boolean {
    if (this.#begun.has(slot)) return false;
    this.#begun.add(slot);
    this.first ??= slot;
    return true;
  }

  /** Drops the oldest slot beyond the bound. */
  trim(): void {
    if (this.#begun.size > MAX_SLOTS) this.#begun.delete(this.#begun.values().next().value!);
    if (this.#banks.size > MAX_SLOTS) this.#banks.delete(this.#banks.keys().next().value!);
  }

  /** @returns true if the bank replaces another one of the slot */
  setBank(slot: bigint, bankId: bigint): boolean {
    const known = this.#banks.get(slot);
    this.#banks.set(slot, bankId);
    return known !== undefined && known !== bankId;
  }

  /** Counts an account update. @returns false if it is from a slot only partly seen, or from a replaced bank */
  countUpdate(slot: bigint, bankId: bigint | undefined): boolean {
    if (this.first === undefined || slot < this.first) return false;
    const bank = this.#banks.get(slot);
    if (bank !== undefined && bankId !== undefined && bank !== bankId) return false;
    this.#updates.set(slot, (this.#updates.get(slot) ?? 0) + 1);
    // A server may name any slot, even for accounts that nobody requested.
    if (this.#updates.size > MAX_SLOTS) this.#updates.delete(this.#updates.keys().next().value!);
    return true;
  }
}
