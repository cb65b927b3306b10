import { NOTHING, type SpotBound, type SpotLine } from "../spot-bound.ts";

/** A pool of concentrated liquidity at its price, in doubles. */
interface RangePool {
  /** Square root of token 1 per token 0, in base units. */
  readonly root: number;
  readonly liquidity: number;
  readonly tick: number;
  readonly tickSpacing: number;
  /** What the least fee leaves. Fraction. */
  readonly kept: number;
  /** Whether it is taken from the input, for token 0 going in and for token 1; else from the output. */
  readonly isOnInput: readonly [boolean, boolean];
}

/** Logarithm of the square root of a tick's price. */
const LOG_ROOT = Math.log1p(1e-4) / 2;
/** What square roots of prices may be off by, in programs and here: those of the lowest ticks have some ten digits. Fraction. */
const MARGIN = 1e-9;

/**
 * The bound of such a pool. Liquidity changes, and limit orders lie, at multiples of the spacing only: up to the next one the pool is a
 * curve x · y = k, and beyond it no unit is worth more than there.
 */
export function rangeBound({ root, liquidity, tick, tickSpacing, kept, isOnInput }: RangePool): SpotBound {
  if (!(root > 0 && root < Number.POSITIVE_INFINITY)) return NOTHING;
  const low = Math.floor(tick / tickSpacing) * tickSpacing;
  const fall = root / Math.exp(low * LOG_ROOT) - 1 - MARGIN;
  const rise = Math.exp((low + tickSpacing) * LOG_ROOT) / root - 1 - MARGIN;
  const price = root * root;
  return {
    from0: rangeLine(price, liquidity / root, fall, kept, isOnInput[0]),
    from1: rangeLine(1 / price, liquidity * root, rise, kept, isOnInput[1]),
    rounding: 0,
  };
}

/** @param move by how much the square root of the price may move until the liquidity may change. Fraction */
function rangeLine(price: number, reserve: number, move: number, kept: number, isOnInput: boolean): SpotLine {
  const rate = isOnInput ? price : price * kept;
  const keptIn = isOnInput ? kept : 1;
  if (!(reserve > 0 && move > 0)) return { rate, curb: 0, kept: keptIn, reach: 0, after: rate };
  const left = 1 / (1 + move);
  return { rate, curb: 1 / reserve, kept: keptIn, reach: move * reserve, after: rate * left * left };
}
