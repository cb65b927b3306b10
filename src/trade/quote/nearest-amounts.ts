import type { PairMarkets } from "../../market/port.ts";
import { U64_MAX } from "../../primitives/integer.ts";
import type { ChainClock } from "../../solana/account.ts";
import type { Intent } from "../intent.ts";

/** Amounts of the exact side that a market of the pair takes, in base units as text; each is left out if none was found. */
export interface NearestAmounts {
  readonly lowerAmount?: string;
  readonly higherAmount?: string;
}

/** Markets asked, each about one amount for each bit on either side. */
const MARKETS_ASKED = 2;

/**
 * Amounts below and above the trade's that a market of the pair itself takes, within a factor of two of the nearest: for a trade that is too
 * large for some markets and too small for the others.
 */
export function nearestAmounts(
  { inMint, outMint, mode, amount }: Intent,
  pair: PairMarkets,
  clock: ChainClock,
): NearestAmounts {
  const markets = pair.markets.slice(0, MARKETS_ASKED);
  const isTaken = (asked: bigint): boolean =>
    markets.some(({ venue, state }) => {
      try {
        const ask = { mode, inMint: inMint.address, outMint: outMint.address, amount: asked, clock, amountsOnly: true };
        return venue.quote(state, ask).outAmount > 0n;
      } catch {
        return false;
      }
    });
  let lower = amount / 2n;
  while (lower > 0n && !isTaken(lower)) lower /= 2n;
  let higher = amount * 2n;
  while (higher <= U64_MAX && !isTaken(higher)) higher *= 2n;
  return {
    ...(lower > 0n ? { lowerAmount: lower.toString() } : {}),
    ...(higher <= U64_MAX ? { higherAmount: higher.toString() } : {}),
  };
}
