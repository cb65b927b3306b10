/** Slots remembered: at the fastest pace of a chain more than ten seconds. */
const MOST_SLOTS = 128;

/** When each of the latest slots was first known of, from whoever told of it first. */
export class SlotTimes {
  readonly #slots: bigint[] = [];
  readonly #atMs: number[] = [];

  /** The newest slot known; 0 before the first. */
  get newest(): bigint {
    return this.#slots.at(-1) ?? 0n;
  }

  note(slot: bigint, atMs: number): void {
    if (slot <= this.newest) return;
    this.#slots.push(slot);
    this.#atMs.push(atMs);
    if (this.#slots.length <= MOST_SLOTS) return;
    this.#slots.shift();
    this.#atMs.shift();
  }

  /**
   * Up to when the state of `slot` was the newest state known to exist (epoch milliseconds): when the first slot after it was
   * known of. Infinity while there is none.
   */
  passedAtMs(slot: bigint): number {
    let passedAtMs = Number.POSITIVE_INFINITY;
    for (let i = this.#slots.length - 1; i >= 0 && this.#slots[i]! > slot; i--) passedAtMs = this.#atMs[i]!;
    return passedAtMs;
  }
}
