import { lastTickAtOrBelow, MAX_TICK, MIN_TICK, swapStep, type TickList } from "../curves/concentrated-liquidity.ts";
import { isArrayStart, type WhirlpoolOracle, whirlpoolArraySpan, whirlpoolArrayStart } from "./layout.ts";
import { whirlpoolSqrtPrice } from "./tick-price.ts";
import { tickBits, VolatilityMeter } from "./volatility.ts";

/** Arrays a swap can pass through: the program takes at most three in a row. */
const ARRAYS_PER_SWAP = 3;
/** From this liquidity on, the program takes longer to compute the amounts of a step at a price below 1. */
const WIDE_LIQUIDITY = 1n << 38n;
/** The square-root price of tick 0. */
const PRICE_ONE = 1n << 64n;
/** More stretches than a transaction has compute units for, whatever they cost: a group of ticks may be one tick wide. */
const MOST_STEPS = 256;

/** A pool as a swap reads it. */
export interface WhirlpoolCurve extends TickList {
  /** Millionths. */
  readonly feeRate: bigint;
  readonly liquidity: bigint;
  readonly sqrtPrice: bigint;
  readonly tick: number;
  readonly tickSpacing: number;
  /** First ticks of the arrays that a swap may use. Absent: all. */
  readonly arrays?: ReadonlySet<number>;
  /** True if `arrays` are those that a swap names; false if there may be further, unknown ones. */
  readonly named?: boolean;
  /** Absent if the fee does not follow volatility. */
  readonly oracle: WhirlpoolOracle | undefined;
}

/** The result of a swap, on the pool's side of any token transfer fee. */
export interface WhirlpoolFill {
  readonly input: bigint;
  readonly output: bigint;
  /** The part of the input that moved the curve. */
  readonly netIn: bigint;
  readonly sqrtPrice: bigint;
  readonly liquidity: bigint;
  /** The pool's tick after the swap; undefined if it is that of the price. */
  readonly tick: number | undefined;
  /** Absent if the fee does not follow volatility. */
  readonly meter: VolatilityMeter | undefined;
  /** The last tick searched for: where searching stopped. */
  readonly searchedTo: number;
  /** Stretches between ticks that were priced. */
  readonly steps: number;
  /** Initialised ticks crossed. */
  readonly crossed: number;
  /** Of `steps`, those of at least `WIDE_LIQUIDITY` at prices below 1 that end at none of the pool's ticks. */
  readonly wideSteps: number;
  /** Set bits of the ticks whose prices the fee's volatility asked for, at or above tick 0 and below it: one multiplication each. */
  readonly borderBits: readonly [above: number, below: number];
  /** Set bits of the ticks at or above 0 that were searched for: their prices take a multiplication for each. */
  readonly searchedBits: number;
  /** Of a fee that follows volatility: see `VolatilityMeter`. */
  readonly endsInStretch: boolean;
  /** Likewise. */
  readonly leftStretchAt: number | undefined;
}

/**
 * First ticks of the arrays a swap may use, in its direction, up to the first that is not among `arrays`. For a rising price the
 * search starts one spacing higher.
 */
export function swapArrayStarts(
  tick: number,
  tickSpacing: number,
  aToB: boolean,
  arrays?: ReadonlySet<number>,
): number[] {
  const first = whirlpoolArrayStart(aToB ? tick : tick + tickSpacing, tickSpacing);
  const span = whirlpoolArraySpan(tickSpacing);
  const starts: number[] = [];
  for (let i = 0; i < ARRAYS_PER_SWAP; i++) {
    const start = aToB ? first - i * span : first + i * span;
    if (arrays !== undefined && !arrays.has(start)) break;
    if (isArrayStart(start, tickSpacing)) starts.push(start);
  }
  return starts;
}

/** The last tick the program can reach in an array that is the last of its row. */
export function lastTickOf(start: number, tickSpacing: number, aToB: boolean): number {
  if (aToB) return Math.max(start, MIN_TICK);
  const end = start + whirlpoolArraySpan(tickSpacing);
  return end > MAX_TICK ? MAX_TICK : end - 1;
}

/**
 * Trades `amount` of the input (`exactIn`) or of the output against the pool, as far as its arrays reach.
 *
 * @returns undefined if that is not far enough
 * @see orca_whirlpools_core 1.0.4 `quote/swap.rs`; the program's `manager/swap_manager.rs` of October 2024
 */
export function swapWhirlpool(
  curve: WhirlpoolCurve,
  aToB: boolean,
  exactIn: boolean,
  amount: bigint,
  unixTimestamp: bigint,
): WhirlpoolFill | undefined {
  const { ticks, sqrtPrices, liquidityNet, tickSpacing } = curve;
  const starts = swapArrayStarts(curve.tick, tickSpacing, aToB, curve.arrays);
  const lastStart = starts[starts.length - 1];
  if (lastStart === undefined) return undefined;
  const endTick = lastTickOf(lastStart, tickSpacing, aToB);
  const endPrice = whirlpoolSqrtPrice(endTick);
  const lastSlot = aToB ? endTick : lastStart + whirlpoolArraySpan(tickSpacing) - tickSpacing;
  const meter = curve.oracle && new VolatilityMeter(curve, curve.oracle, aToB, unixTimestamp);

  let { sqrtPrice, liquidity } = curve;
  let remaining = amount;
  let calculated = 0n;
  let fees = 0n;
  let steps = 0;
  let crossed = 0;
  let wideSteps = 0;
  let searchedTo = curve.tick;
  let searchedBits = 0;
  let index = lastTickAtOrBelow(ticks, curve.tick) + (aToB ? 0 : 1);
  let atEnd = false;
  let tickLeft: number | undefined = curve.tick;
  while (remaining > 0n) {
    if (atEnd || steps > MOST_STEPS) return undefined;
    const tick = ticks[index];
    const found = tick !== undefined && (aToB ? tick >= endTick : tick <= endTick);
    const nextTick = found ? tick : endTick;
    const nextPrice = found ? sqrtPrices[index]! : endPrice;
    searchedTo = nextTick;
    if (nextTick > 0) searchedBits += tickBits(nextTick);
    do {
      const target = meter === undefined ? nextPrice : meter.bound(nextPrice, liquidity);
      const rate = meter === undefined ? curve.feeRate : meter.feeRate();
      const step = swapStep(sqrtPrice, target, liquidity, remaining, rate, exactIn, aToB, true);
      if (step === undefined) return undefined;
      steps++;
      fees += step.fee;
      remaining -= exactIn ? step.amountIn + step.fee : step.amountOut;
      calculated += exactIn ? step.amountOut : step.amountIn + step.fee;
      if (step.sqrtPrice !== sqrtPrice) tickLeft = undefined;
      sqrtPrice = step.sqrtPrice;
      if (sqrtPrice !== nextPrice && sqrtPrice < PRICE_ONE && liquidity >= WIDE_LIQUIDITY) wideSteps++;
      meter?.advance(sqrtPrice, nextPrice, nextTick);
    } while (remaining > 0n && sqrtPrice !== nextPrice && steps <= MOST_STEPS);
    if (sqrtPrice !== nextPrice) break;
    tickLeft = aToB ? nextTick - 1 : nextTick;
    if (found) {
      crossed++;
      liquidity += aToB ? -liquidityNet[index]! : liquidityNet[index]!;
      index += aToB ? -1 : 1;
      // Crossing the last tick an array can hold, upward, moves to the next array, even if there is none.
      atEnd = nextTick === MIN_TICK || nextTick === MAX_TICK || nextTick === lastSlot;
    } else {
      atEnd = true;
    }
  }
  if (remaining > 0n) return undefined;
  // With more arrays the step to the end of these would have been a longer one.
  if (atEnd && starts.length < ARRAYS_PER_SWAP && curve.named === false) return undefined;
  const input = exactIn ? amount : calculated;
  const output = exactIn ? calculated : amount;
  const borderBits = meter?.borderBits() ?? NO_BITS;
  const netIn = input - fees;
  const endsInStretch = meter?.endsInStretch === true;
  const leftStretchAt = meter?.leftStretchAt;
  const passed = { searchedTo, steps, crossed, wideSteps, borderBits, searchedBits, endsInStretch, leftStretchAt };
  return { input, output, netIn, sqrtPrice, liquidity, tick: tickLeft, meter, ...passed };
}

const NO_BITS = [0, 0] as const;
