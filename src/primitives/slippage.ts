import { minOf, U64_MAX } from "./integer.ts";

/** Slippage is stored as parts per billion, so that every decimal fraction with up to nine digits is exact. */
const SLIPPAGE_DENOMINATOR = 1_000_000_000n;

/**
 * A decimal fraction 0 ≤ slippage < 1 as parts per billion, rounded to the nearest part.
 *
 * @returns undefined if it is outside that range or not a number
 */
export function parseSlippage(fraction: number): bigint | undefined {
  if (!(fraction >= 0 && fraction < 1)) return undefined;
  const parts = BigInt(Math.round(fraction * 1e9));
  return parts < SLIPPAGE_DENOMINATOR ? parts : SLIPPAGE_DENOMINATOR - 1n;
}

/** Upper bound of the slippage reserved for the amount passed between two markets. Parts per billion. */
const MOST_BETWEEN_HUBS = 5_000_000n;
const MOST_ELSEWHERE = 20_000_000n;

/**
 * The part of the slippage that covers the amount passed between two markets; the rest covers what the caller gives or gets. If
 * prices stand still, this part stays in the mint between the markets, so it is small: half of the slippage, or over three
 * markets a third for each of the two amounts. It is at most 0.5 % if the deciding market trades SOL for USDC, whose price moves
 * by hundredths of a percent while a trade is in flight. It is at most 2 % for any other token, whose price moves that far when a
 * hundredth of the market is bought.
 *
 * @param isBetweenHubs of the market before the amount for exactIn, of the one after it for exactOut
 * @param legs markets in a row
 */
export function passingShare(slippagePpb: bigint, isBetweenHubs: boolean, legs = 2): bigint {
  const part = slippagePpb / BigInt(legs);
  const most = isBetweenHubs ? MOST_BETWEEN_HUBS : MOST_ELSEWHERE;
  return part < most ? part : most;
}

/** The least output accepted: quoted × (1 − slippage), rounded up, in the user's favour. At slippage 0 it is the quote itself. */
export function minimumOut(quotedOut: bigint, slippagePpb: bigint): bigint {
  return (quotedOut * (SLIPPAGE_DENOMINATOR - slippagePpb) + SLIPPAGE_DENOMINATOR - 1n) / SLIPPAGE_DENOMINATOR;
}

/**
 * The most input accepted: quoted × (1 + slippage), rounded down, in the user's favour, and no more than a token account holds.
 * At slippage 0 it is the quote itself.
 */
export function maximumIn(quotedIn: bigint, slippagePpb: bigint): bigint {
  return minOf((quotedIn * (SLIPPAGE_DENOMINATOR + slippagePpb)) / SLIPPAGE_DENOMINATOR, U64_MAX);
}
