import type { Observations } from "./observations.ts";

/** Blocks in which a message can land. */
const LIFETIME_BLOCKS = 151;

/** A submission on the scale of slots: 0 is the slot in which this process took it. */
export interface SlotScale {
  /** Blocks of the message's life left at 0. Negative: it was over. */
  readonly blocksLeft: number;
  /** The slot after the last one in which it could have landed in time. */
  readonly end: number;
  /** Slots of its life that the signer used, and slots used before it was built; 0 if unknown. */
  readonly signed: number;
  readonly aged: number;
  /** The first slot after a sender accepted it; infinite if none did. */
  readonly accepted: number;
  /** The first slot it was seen in whose block was then dropped; undefined if there was none. */
  readonly dropped: number | undefined;
  /** The slot in which its end became known; later slots are not observed. */
  readonly ended: number;
  /** Slots without a block before its end. */
  readonly skipped: number;
  /** Of the slots before its end without a price, the share that had no block. */
  readonly skippedShare: number;
  /** True if its bid was enough for the slot, false if it was not; undefined if no price is listed for it. */
  isEnough(slot: number): boolean | undefined;
}

/** Slots after submit in which a trade that lands is not late. */
export const LATE_SLOTS = 12;

/** The submission on this scale; undefined if this process did not observe it from start to end. */
export function scaleOf(seen: Observations): SlotScale | undefined {
  const { started, accepted, ended, landedSlot, blocksLeftAtBuild, prices } = seen;
  if (started === undefined || ended === undefined) return undefined;
  const offsetOf = (slot: bigint) => Number(slot - started.slot);
  const passed = offsetOf(ended.slot);
  const skipped = Math.max(0, passed - Number(ended.blockHeight - started.blockHeight));
  // Its end becomes known a few slots after it landed; those slots are taken to have blocks.
  const until = landedSlot === undefined ? passed : offsetOf(landedSlot);
  const isEnough = (slot: number) => {
    const landed = prices?.bySlot.get(started.slot + BigInt(slot));
    return landed === undefined ? undefined : prices!.bid >= landed.accounts;
  };
  let unlisted = 0;
  for (let slot = 1; slot <= until; slot++) if (isEnough(slot) === undefined) unlisted += 1;
  const blocksLeft = Number(seen.lastValidBlockHeight - started.blockHeight);
  return {
    blocksLeft,
    end:
      landedSlot === undefined
        ? lastSlotOf(blocksLeft, until > 0 ? Math.min(1, skipped / until) : 0) + 1
        : offsetOf(landedSlot),
    signed: blocksLeftAtBuild === undefined ? 0 : Math.max(0, blocksLeftAtBuild - blocksLeft),
    aged: blocksLeftAtBuild === undefined ? 0 : Math.max(0, LIFETIME_BLOCKS - blocksLeftAtBuild),
    accepted: accepted === undefined ? Number.POSITIVE_INFINITY : Math.max(1, offsetOf(accepted.slot) + 1),
    dropped: droppedSlot(seen, offsetOf),
    ended: passed,
    skipped,
    // A slot with a price had a block, so the skipped slots are among the others.
    skippedShare: unlisted === 0 ? 0 : Math.min(1, skipped / unlisted),
    isEnough,
  };
}

/** The slot in which this many blocks have been produced. */
const lastSlotOf = (blocks: number, skippedShare: number): number =>
  skippedShare === 1 ? blocks : Math.floor(blocks / (1 - skippedShare));

function droppedSlot({ events, landedSlot }: Observations, offsetOf: (slot: bigint) => number): number | undefined {
  const slots = events.flatMap(({ kind, slot }) => (kind === "processed" && slot !== undefined ? [slot] : []));
  const dropped = slots.filter((slot) => slot !== landedSlot && (landedSlot === undefined || slot < landedSlot));
  // A block from before the submit is a node's mistake or lie.
  return dropped.map(offsetOf).find((offset) => offset >= 0);
}

/** The obstacles of a transaction, each of which can be assumed absent. */
export interface Obstacles {
  readonly senders: boolean;
  readonly prices: boolean;
  readonly skips: boolean;
}

export const ALL_OBSTACLES: Obstacles = { senders: true, prices: true, skips: true };

/**
 * Slots from `begin` up to, but not including, `end` in which the transaction could have landed: a leader had it, its bid was enough as far
 * as is known, and there was a block.
 */
export function chancesIn(scale: SlotScale, begin: number, end: number, obstacles = ALL_OBSTACLES): number {
  const from = begin + (obstacles.senders ? scale.accepted : 1);
  if (!(from < end)) return 0;
  let chances = 0;
  for (let slot = from; slot < end; slot++) {
    const isEnough = scale.isEnough(slot);
    const open = !obstacles.prices ? 1 : isEnough === undefined ? openShareNear(scale, slot) : Number(isEnough);
    chances += isEnough === undefined && obstacles.skips ? open * (1 - scale.skippedShare) : open;
  }
  return Math.round(chances);
}

/** Slots before and after one without a price whose prices stand for it. */
const NEAR_SLOTS = 12;

/**
 * The chance that the bid was enough in a slot without a price: the same as nearby if most such slots had no block; otherwise assume that
 * nobody paid in it.
 */
function openShareNear(scale: SlotScale, slot: number): number {
  if (scale.skippedShare < 0.5) return 1;
  let [listed, enough] = [0, 0];
  for (let near = slot - NEAR_SLOTS; near <= slot + NEAR_SLOTS; near++) {
    const isEnough = scale.isEnough(near);
    if (isEnough !== undefined) listed += 1;
    if (isEnough) enough += 1;
  }
  return listed === 0 ? 1 : enough / listed;
}
