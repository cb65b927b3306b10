import { PROCESSED_LAG_SLOTS } from "./newest-slot.ts";

/** Slot times until the next slot must come, a skipped one included. */
const PATIENCE_SLOTS = 2;

/**
 * Detects a newest slot that does not exist: a wrong node named it ahead of the chain, while other nodes' slots go on below it. On a chain
 * that pauses no slot goes on, and a real slot is followed by others.
 */
export class UnfollowedSlot {
  #readAt = 0n;

  /**
   * Notes the slot of a node's answer.
   *
   * @param known the newest slot when the node was asked, and for how long it was known by then (ms): an answer that comes late, or that
   * waits in a busy process, proves nothing about slots that have begun since
   * @returns true if every node should be asked for its newest slot
   */
  note(readAt: bigint, known: { readonly slot: bigint; readonly ageMs: number }, slotMs: number): boolean {
    const goesOn = readAt > this.#readAt;
    this.#readAt = readAt;
    return goesOn && readAt + PROCESSED_LAG_SLOTS < known.slot && known.ageMs > PATIENCE_SLOTS * slotMs;
  }
}
