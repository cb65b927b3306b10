import type { Samples } from "./fee-samples.ts";

/** Slots whose prices count. */
const WINDOW_SLOTS = 150;
/** Own payments remembered: at least as many as one process can land in the window. */
const MAX_OWN = 4_096;

/** The price a node reports for a slot. Micro-lamports per compute unit. */
export interface SlotPrice {
  readonly slot: bigint;
  readonly price: bigint;
}

/**
 * The last 150 slots, one sample each. Nodes list only slots in which someone paid, however long ago: on a quiet chain a few expensive
 * trades would otherwise set every price for minutes. A slot without an entry was idle and counts as zero. So does a slot whose price this
 * process paid itself: it must not bid against its own trades.
 */
export class FeeWindow {
  readonly #newestSlot: () => bigint;
  /** Prices paid by this process, by slot, oldest first. */
  readonly #own = new Map<bigint, Set<bigint>>();

  /** @param newestSlot the newest slot known; 0 if none is */
  constructor(newestSlot: () => bigint) {
    this.#newestSlot = newestSlot;
  }

  /** A transaction of this process landed in a slot at a price. */
  noteOwn({ slot, price }: SlotPrice): void {
    const prices = this.#own.get(slot) ?? new Set();
    this.#own.set(slot, prices.add(price));
    if (this.#own.size > MAX_OWN) this.#own.delete(this.#own.keys().next().value!);
  }

  /** One sample for each slot of the window. */
  samples(listed: readonly SlotPrice[]): Samples {
    const newest = this.#newestSlot();
    if (newest === 0n) return listed.map(({ price }) => price);
    const oldest = newest - BigInt(WINDOW_SLOTS);
    const samples: bigint[] = [];
    for (const { slot, price } of listed) {
      const counts = slot > oldest && slot <= newest + BigInt(WINDOW_SLOTS) && samples.length < WINDOW_SLOTS;
      if (counts && this.#own.get(slot)?.has(price) !== true) samples.push(price);
    }
    while (samples.length < WINDOW_SLOTS) samples.push(0n);
    return samples;
  }
}
