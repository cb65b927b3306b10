/** Longest time for which a sighting stands in for repetitions, in slots: one node's word may be wrong, or out of date. */
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

  /** Takes in that a node whose state is of this slot lacks the transaction. One that lags says nothing. */
  miss(stateSlot: bigint): void {
    if (this.#slot !== undefined && stateSlot >= this.#slot) this.#isOver = true;
  }

  /** True while the transaction need not be sent again. */
  stands(atMs: number, slotMs: number): boolean {
    return this.#slot !== undefined && !this.#isOver && atMs - this.#sinceMs < TRUSTED_SLOTS * slotMs;
  }
}
