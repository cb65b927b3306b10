import { PROCESSED_LAG_SLOTS } from "./newest-slot.ts";

/** Slot times that the next slot may take, with a skipped one between. */
const PATIENCE_SLOTS = 2;

/**
 * Notices a newest slot that is none: named ahead of the chain by a node that is wrong, while what nodes answer goes on below it.
 * On a chain that pauses nothing goes on, and a slot that is true is followed by others.
 */
export class UnfollowedSlot {
  #readAt = 0n;

  /**
   * Takes a slot that a node answered at.
   *
   * @param known the newest slot when the node was asked, and for how long it was known by then (ms): an answer that comes late, or that
   *   waits in a busy process, says nothing about slots that have begun since
   * @returns true if every node should be asked for its newest slot
   */
  note(readAt: bigint, known: { readonly slot: bigint; readonly ageMs: number }, slotMs: number): boolean {
    const goesOn = readAt > this.#readAt;
    this.#readAt = readAt;
    return goesOn && readAt + PROCESSED_LAG_SLOTS < known.slot && known.ageMs > PATIENCE_SLOTS * slotMs;
  }
}
