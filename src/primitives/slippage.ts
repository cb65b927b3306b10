/** Slippage is held as parts per billion, so that every decimal fraction with up to nine digits is exact. */
export const SLIPPAGE_DENOMINATOR = 1_000_000_000n;

/**
 * A decimal fraction 0 ≤ slippage < 1 as parts per billion, rounded to the nearest part.
 *
 * @returns undefined when it is outside that range or not a number
 */
export function parseSlippage(fraction: number): bigint | undefined {
  if (!(fraction >= 0 && fraction < 1)) return undefined;
  const parts = BigInt(Math.round(fraction * 1e9));
  return parts < SLIPPAGE_DENOMINATOR ? parts : SLIPPAGE_DENOMINATOR - 1n;
}

/** The least output accepted: quoted × (1 − slippage), rounded up, in the user's favour. At slippage 0 it is the quote itself. */
export function minimumOut(quotedOut: bigint, slippagePpb: bigint): bigint {
  return (quotedOut * (SLIPPAGE_DENOMINATOR - slippagePpb) + SLIPPAGE_DENOMINATOR - 1n) / SLIPPAGE_DENOMINATOR;
}

/** The most input accepted: quoted × (1 + slippage), rounded down, in the user's favour. At slippage 0 it is the quote itself. */
export function maximumIn(quotedIn: bigint, slippagePpb: bigint): bigint {
  return (quotedIn * (SLIPPAGE_DENOMINATOR + slippagePpb)) / SLIPPAGE_DENOMINATOR;
}
