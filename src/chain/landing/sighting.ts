/** How long a sighting suppresses repetitions, in slots: one node's word may be wrong or out of date. */
const TRUSTED_SLOTS = 5;

/**
 * Whether a block holds a transaction, by the statuses of nodes. While one does, broadcasting it again gains nothing. The first
 * sighting alone counts, and only until a node at that block or past it lacks the transaction, or has it in another block.
 */
export class Sighting {
  #slot: bigint | undefined;
  #sinceMs = 0;
  #isOver = false;

  /** Takes in a status from a block. `atMs` is monotonic. */
  see(slot: bigint, atMs: number): void {
    if (this.#slot === undefined) {
      this.#slot = slot;
      this.#sinceMs = atMs;
    } else if (slot !== this.#slot) this.#isOver = true;
  }

  /** Notes that a node at this slot lacks the transaction. A node that lags does not count. */
  miss(stateSlot: bigint): void {
    if (this.#slot !== undefined && stateSlot >= this.#slot) this.#isOver = true;
  }

  /** True while the transaction need not be sent again. */
  stands(atMs: number, slotMs: number): boolean {
    return this.#slot !== undefined && !this.#isOver && atMs - this.#sinceMs < TRUSTED_SLOTS * slotMs;
  }
}
