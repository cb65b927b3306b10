import type { PairMarkets } from "../../market/port.ts";
import { U64_MAX } from "../../primitives/integer.ts";
import type { ChainClock } from "../../solana/account.ts";
import type { Intent } from "../intent.ts";

/** Amounts of the exact side that a market of the pair takes, in base units as text; each is left out if none was found. */
export interface NearestAmounts {
  readonly lowerAmount?: string;
  readonly higherAmount?: string;
}

/** Markets asked, each about at most nineteen amounts on either side: a quote to the end of a market costs as much as two builds. */
const MARKETS_ASKED = 2;
/** Amounts are first tried so many bits apart. */
const STRIDE = 4n;

/**
 * Amounts below and above the trade's that a market of the pair itself takes, for a trade that is too large for some markets and too small
 * for the others. Each is within a factor of two of the nearest, if that market takes all amounts from there on over a factor of 32.
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
  let lower = amount >> STRIDE;
  while (lower > 0n && !isTaken(lower)) lower >>= STRIDE;
  // Nearer to the trade's amount, while a market takes it.
  while (lower > 0n && lower * 2n < amount && isTaken(lower * 2n)) lower *= 2n;
  let higher = amount << STRIDE;
  while (higher <= U64_MAX && !isTaken(higher)) higher <<= STRIDE;
  while (higher <= U64_MAX && higher / 2n > amount && isTaken(higher / 2n)) higher /= 2n;
  return {
    ...(lower > 0n ? { lowerAmount: lower.toString() } : {}),
    ...(higher <= U64_MAX ? { higherAmount: higher.toString() } : {}),
  };
}
