/** Slots remembered: more than ten seconds at the fastest pace of a chain. */
const MAX_SLOTS = 128;

/** When each of the latest slots was first reported by any source. */
export class SlotTimes {
  readonly #slots: bigint[] = [];
  readonly #atMs: number[] = [];

  /** The newest slot known; 0 before the first. */
  get newest(): bigint {
    const { length } = this.#slots;
    return length === 0 ? 0n : this.#slots[length - 1]!;
  }

  note(slot: bigint, atMs: number): void {
    if (slot <= this.newest) return;
    this.#slots.push(slot);
    this.#atMs.push(atMs);
    if (this.#slots.length <= MAX_SLOTS) return;
    this.#slots.shift();
    this.#atMs.shift();
  }

  /**
   * Forgets later slots, which do not exist. As one was believed since its report, what happened meanwhile is not known: this slot counts as
   * reported then, which makes no state younger than it is.
   */
  takeBackTo(slot: bigint): void {
    let sinceMs: number | undefined;
    while (this.newest > slot) {
      this.#slots.pop();
      sinceMs = this.#atMs.pop();
    }
    if (sinceMs !== undefined) this.note(slot, sinceMs);
  }

  /** The newest slot that was known by then; 0 if none was. @param atMs epoch milliseconds */
  newestBy(atMs: number): bigint {
    let i = this.#slots.length - 1;
    while (i >= 0 && this.#atMs[i]! > atMs) i -= 1;
    // A look outside of the list would make every later one slow.
    return i < 0 ? 0n : this.#slots[i]!;
  }

  /**
   * Up to when the state of `slot` was the newest known to exist (epoch milliseconds): when the first slot after it was
   * reported. Infinity while there is none.
   */
  passedAtMs(slot: bigint): number {
    let passedAtMs = Number.POSITIVE_INFINITY;
    for (let i = this.#slots.length - 1; i >= 0 && this.#slots[i]! > slot; i--) passedAtMs = this.#atMs[i]!;
    return passedAtMs;
  }
}
