import { minOf } from "../../primitives/integer.ts";
import { Q64_ONE } from "./q64-power.ts";

/**
 * The volatility that fees of Meteora's DAMM v2 and DBC follow: how many steps of price a pool has moved away from a reference,
 * which decays with time. A trade pays for the volatility as the trades before it left it.
 */
export interface PriceVolatility {
  /** Volatility above this counts no more. */
  readonly maximum: bigint;
  /** One step of the square-root price in Q64. */
  readonly stepQ64: bigint;
  /** Seconds. */
  readonly filterPeriod: bigint;
  /** Seconds. */
  readonly decayPeriod: bigint;
  /** Ten-thousandths that remain after the filter period. */
  readonly reductionFactor: bigint;
  /** Unix seconds. */
  readonly updatedAt: bigint;
  /** A square-root price in Q64.64. */
  readonly priceReference: bigint;
  readonly accumulated: bigint;
  readonly reference: bigint;
}

/** A step of price, as volatility counts it. */
const STEP = 10_000n;
const ONE_IN_BPS = 10_000n;

/** The volatility after a trade that has moved the square-root price from `before` to `after`. `now` in Unix seconds. */
export function volatilityAfter(
  volatility: PriceVolatility,
  before: bigint,
  after: bigint,
  now: bigint,
): PriceVolatility {
  const { stepQ64, maximum, filterPeriod, decayPeriod, reductionFactor } = volatility;
  let { priceReference, reference, updatedAt } = volatility;
  const elapsed = now - updatedAt;
  if (elapsed >= filterPeriod) {
    priceReference = before;
    reference = elapsed < decayPeriod ? (volatility.accumulated * reductionFactor) / ONE_IN_BPS : 0n;
  }
  const accumulated = minOf(reference + stepsBetween(after, priceReference, stepQ64) * STEP, maximum);
  if (stepsBetween(before, after, stepQ64) > 0n) updatedAt = now;
  return { ...volatility, priceReference, reference, accumulated, updatedAt };
}

/** Steps of price between two square-root prices: two for each of the root's, rounded down. */
function stepsBetween(a: bigint, b: bigint, stepQ64: bigint): bigint {
  if (a === 0n || b === 0n || stepQ64 === 0n) return 0n;
  const [lower, higher] = a < b ? [a, b] : [b, a];
  return (((higher << 64n) / lower - Q64_ONE) / stepQ64) * 2n;
}
