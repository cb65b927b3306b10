import type { Observations } from "./observations.ts";

/** Blocks in which a message can land. */
const LIFETIME_BLOCKS = 151;

/** A submission on the scale of slots: 0 is the slot in which this process took it. */
export interface SlotScale {
  /** Blocks of the message's life left at 0. Negative: it was over. */
  readonly blocksLeft: number;
  /** The slot after the last one in which it could have landed in time. */
  readonly end: number;
  /** Slots of its life that the signer used, and that were used before it was built; 0 if that is not known. */
  readonly signed: number;
  readonly aged: number;
  /** The first slot after a sender accepted it; infinite if none did. */
  readonly accepted: number;
  /** The first slot it was seen in whose block was then dropped; undefined if there was none. */
  readonly dropped: number | undefined;
  /** The slot in which its end was known: what happened in later ones is not. */
  readonly ended: number;
  /** Slots without a block before its end. */
  readonly skipped: number;
  /** Share of the slots before its end without a price that had no block. */
  readonly skippedShare: number;
  /** True if its bid was enough for the slot, false if it was not; undefined if no price is listed for it. */
  isEnough(slot: number): boolean | undefined;
}

/** Slots after submit in which a trade that lands is not late. */
export const LATE_SLOTS = 12;

/** The scale of what was observed; undefined if this process did not see it from its start to its end. */
export function scaleOf(seen: Observations): SlotScale | undefined {
  const { started, accepted, ended, landedSlot, blocksLeftAtBuild, prices } = seen;
  if (started === undefined || ended === undefined) return undefined;
  const offsetOf = (slot: bigint) => Number(slot - started.slot);
  const passed = offsetOf(ended.slot);
  const skipped = Math.max(0, passed - Number(ended.blockHeight - started.blockHeight));
  // Its end is known a few slots after it landed, which it did in a time of blocks.
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
    // A slot with a price had a block: those that had none are among the others.
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
  // A block from before it was submitted is a node's mistake, or its lie.
  return dropped.map(offsetOf).find((offset) => offset >= 0);
}

/** What stood in a transaction's way, each of which can be thought away. */
export interface Obstacles {
  readonly senders: boolean;
  readonly prices: boolean;
  readonly skips: boolean;
}

export const ALL_OBSTACLES: Obstacles = { senders: true, prices: true, skips: true };

/**
 * Slots from `begin` to before `end` in which the transaction could have landed: it was with a leader, its bid was enough as
 * far as is known, and there was a block.
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
 * The chance that the bid was enough for a slot without a price: as often as near it if most such slots had no block, else it
 * is assumed that nobody paid in it.
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
