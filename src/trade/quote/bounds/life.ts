import type { ChainClock } from "../../../solana/account.ts";

/** How long what is known of a market serves while its accounts do not change: slots, and seconds that surely cover them. */
const LIFE_SLOTS = 25n;
const LIFE_SECONDS = 25n;

/** When something was found. */
export type Since = Pick<ChainClock, "slot" | "epoch">;

/** True if what was found then still serves. Nothing outlives its epoch: transfer fees change with it. */
export function isAlive({ slot, epoch }: Since, now: ChainClock): boolean {
  return epoch === now.epoch && now.slot - slot <= LIFE_SLOTS;
}

/** The last moment at which what is found at this one serves, or one after it. */
export function endOfLife({ slot, epoch, unixTimestamp }: ChainClock): ChainClock {
  return { slot: slot + LIFE_SLOTS, epoch, unixTimestamp: unixTimestamp + LIFE_SECONDS };
}

/** True if quotes of one state are the same at both moments. */
export function isSameMoment(a: ChainClock, b: ChainClock): boolean {
  return a === b || (a.slot === b.slot && a.unixTimestamp === b.unixTimestamp && a.epoch === b.epoch);
}
