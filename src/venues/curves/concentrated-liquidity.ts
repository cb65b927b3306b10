import { ceilDiv, minOf } from "../../primitives/integer.ts";

/**
 * Liquidity spread over price ranges, as Orca Whirlpools and Raydium CLMM trade it: square-root prices of token 1 per
 * token 0 in Q64.64, one price per tick of 1.0001, liquidity as whole numbers. Both programs make the same step between two
 * prices; they differ in how a tick becomes a price, so each has its own ladder.
 */
export const MIN_TICK = -443_636;
export const MAX_TICK = 443_636;
export const Q64 = 1n << 64n;

const Q128 = 1n << 128n;
const Q64_MASK = Q64 - 1n;
const FEE_DENOMINATOR = 1_000_000n;

/** Amount of token 0 between two prices: L·(upper − lower)/(lower·upper). */
export function amount0Between(lower: bigint, upper: bigint, liquidity: bigint, roundUp: boolean): bigint {
  const numerator = (liquidity * (upper - lower)) << 64n;
  const denominator = lower * upper;
  return roundUp ? ceilDiv(numerator, denominator) : numerator / denominator;
}

/** Amount of token 1 between two prices: L·(upper − lower). */
export function amount1Between(lower: bigint, upper: bigint, liquidity: bigint, roundUp: boolean): bigint {
  const product = liquidity * (upper - lower);
  return roundUp ? (product + Q64_MASK) >> 64n : product >> 64n;
}

/** One step of a swap at constant liquidity. Amounts are the pool's side, in base units. */
interface SwapStep {
  /** The price reached. */
  readonly sqrtPrice: bigint;
  /** Input that moves the curve, without a fee on input. */
  readonly amountIn: bigint;
  /** Output that leaves the pool, after a fee on output. */
  readonly amountOut: bigint;
  readonly fee: bigint;
}

/**
 * Moves the price from `current` toward `target` for `remaining` of the input (`exactIn`) or of the output. Input is rounded
 * up, output down, the price in the pool's favour; fees round up, and a step of exact input that ends short of `target`
 * takes as fee whatever its input did not move.
 *
 * @param feeRate millionths
 * @param feeOnInput false: the fee is taken from the output
 * @returns undefined if no price can give that output
 * @see orca_whirlpools_core 1.0.4 `quote/swap.rs` compute_swap_step; raydium-clmm `libraries/swap_math.rs` compute_swap
 */
export function swapStep(
  current: bigint,
  target: bigint,
  liquidity: bigint,
  remaining: bigint,
  feeRate: bigint,
  exactIn: boolean,
  zeroForOne: boolean,
  feeOnInput: boolean,
): SwapStep | undefined {
  if (liquidity === 0n) return { sqrtPrice: target, amountIn: 0n, amountOut: 0n, fee: 0n };
  const keptRate = FEE_DENOMINATOR - feeRate;
  let moving = remaining;
  if (exactIn && feeOnInput) moving = (remaining * keptRate) / FEE_DENOMINATOR;
  else if (!exactIn && !feeOnInput) moving = ceilDiv(remaining * FEE_DENOMINATOR, keptRate);

  const fixed = exactIn
    ? inputBetween(current, target, liquidity, zeroForOne)
    : outputBetween(current, target, liquidity, zeroForOne);
  let sqrtPrice: bigint | undefined = target;
  let amountIn: bigint;
  let amountOut: bigint;
  if (moving >= fixed) {
    amountIn = exactIn ? fixed : inputBetween(current, target, liquidity, zeroForOne);
    amountOut = exactIn ? outputBetween(current, target, liquidity, zeroForOne) : fixed;
  } else {
    sqrtPrice = exactIn
      ? priceAfterInput(current, liquidity, moving, zeroForOne)
      : priceAfterOutput(current, liquidity, moving, zeroForOne);
    if (sqrtPrice === undefined) return undefined;
    amountIn = inputBetween(current, sqrtPrice, liquidity, zeroForOne);
    amountOut = outputBetween(current, sqrtPrice, liquidity, zeroForOne);
  }
  return feeOnInput
    ? feeFromInput(sqrtPrice, target, amountIn, amountOut, remaining, feeRate, keptRate, exactIn)
    : feeFromOutput(sqrtPrice, target, amountIn, amountOut, remaining, feeRate, exactIn);
}

function feeFromInput(
  sqrtPrice: bigint,
  target: bigint,
  amountIn: bigint,
  amountOut: bigint,
  remaining: bigint,
  feeRate: bigint,
  keptRate: bigint,
  exactIn: boolean,
): SwapStep {
  const rest = exactIn && sqrtPrice !== target;
  const fee = rest ? remaining - amountIn : ceilDiv(amountIn * feeRate, keptRate);
  return { sqrtPrice, amountIn, amountOut: exactIn ? amountOut : minOf(amountOut, remaining), fee };
}

function feeFromOutput(
  sqrtPrice: bigint,
  target: bigint,
  amountIn: bigint,
  grossOut: bigint,
  remaining: bigint,
  feeRate: bigint,
  exactIn: boolean,
): SwapStep {
  let fee = ceilDiv(grossOut * feeRate, FEE_DENOMINATOR);
  if (exactIn) {
    // The remainder of a rounded price cannot become a fee on output: the pool keeps all of the input.
    return { sqrtPrice, amountIn: sqrtPrice === target ? amountIn : remaining, amountOut: grossOut - fee, fee };
  }
  if (grossOut - fee > remaining) fee = grossOut - remaining;
  return { sqrtPrice, amountIn, amountOut: grossOut - fee, fee };
}

function inputBetween(a: bigint, b: bigint, liquidity: bigint, zeroForOne: boolean): bigint {
  return zeroForOne ? amount0Between(b, a, liquidity, true) : amount1Between(a, b, liquidity, true);
}

function outputBetween(a: bigint, b: bigint, liquidity: bigint, zeroForOne: boolean): bigint {
  return zeroForOne ? amount1Between(b, a, liquidity, false) : amount0Between(a, b, liquidity, false);
}

/** Token 0 in lowers the price, rounded up; token 1 in raises it, rounded down. */
function priceAfterInput(price: bigint, liquidity: bigint, amount: bigint, zeroForOne: boolean): bigint {
  if (!zeroForOne) return price + (amount << 64n) / liquidity;
  const scaled = liquidity << 64n;
  return ceilDiv(scaled * price, scaled + amount * price);
}

/** Token 1 out lowers the price, rounded down; token 0 out raises it, rounded up. Undefined if there is no such price. */
function priceAfterOutput(price: bigint, liquidity: bigint, amount: bigint, zeroForOne: boolean): bigint | undefined {
  if (zeroForOne) {
    const fall = ceilDiv(amount << 64n, liquidity);
    return fall < price ? price - fall : undefined;
  }
  const scaled = liquidity << 64n;
  const rest = scaled - amount * price;
  return rest > 0n ? ceilDiv(scaled * price, rest) : undefined;
}

/** Token 1 per token 0, or the reverse, at a square-root price, as a fraction of base units. */
export function midPrice(sqrtPrice: bigint, zeroForOne: boolean): readonly [numerator: bigint, denominator: bigint] {
  const square = sqrtPrice * sqrtPrice;
  return zeroForOne ? [square, Q128] : [Q128, square];
}

/** Number of low bits looked up in a table. */
const TABLE_BITS = 9;

/**
 * The product of the factors of the set bits of n, from the lowest bit up, shifted down and so floored after each: how both
 * programs raise the base of prices to a tick. The products of the low bits are computed once.
 *
 * @param one 1 in the fixed point of the factors
 */
export function createPowerLadder(one: bigint, bits: bigint, factors: readonly bigint[]): (n: number) => bigint {
  const low: bigint[] = [one];
  for (let bit = 0; bit < TABLE_BITS; bit++) {
    const size = low.length;
    for (let i = 0; i < size; i++) low.push((low[i]! * factors[bit]!) >> bits);
  }
  return (n) => {
    let product = low[n & ((1 << TABLE_BITS) - 1)]!;
    for (let rest = n >>> TABLE_BITS, bit = TABLE_BITS; rest !== 0; rest >>>= 1, bit++) {
      if ((rest & 1) === 1) product = (product * factors[bit]!) >> bits;
    }
    return product;
  };
}

/** Initialised ticks in ascending order, one entry per tick in each list. */
export interface TickList {
  readonly ticks: readonly number[];
  /** Liquidity added as the price rises through the tick. */
  readonly liquidityNet: readonly bigint[];
  readonly sqrtPrices: readonly bigint[];
}

/** Index of the last tick at or below `tick`; −1 if there is none. */
export function lastTickAtOrBelow(ticks: readonly number[], tick: number): number {
  let low = 0;
  let high = ticks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ticks[middle]! <= tick) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The last tick whose square-root price is not above `sqrtPrice`, which lies within the ticks. */
export function tickAtPrice(sqrtPrice: bigint, priceOf: (tick: number) => bigint): number {
  let [low, high] = [MIN_TICK, MAX_TICK];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (priceOf(middle) <= sqrtPrice) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** `dividend / divisor` rounded down, for any dividend and divisor > 0. */
export function floorDivide(dividend: number, divisor: number): number {
  return Math.floor(dividend / divisor);
}

/** Volatility that counts as one group of ticks. */
export const VOLATILITY_SCALE = 10_000;
/** The largest fee, in millionths. */
const FEE_RATE_LIMIT = 100_000n;
const CONTROL_SCALE = 100_000n * 10_000n * 10_000n;

/** Volatility after the price moved from the reference group of ticks to `group`. */
export function volatilityAt(reference: number, referenceGroup: number, group: number, maximum: number): number {
  return Math.min(reference + Math.abs(referenceGroup - group) * VOLATILITY_SCALE, maximum);
}

/**
 * The fee rate with its part that follows volatility, ceil(control·(volatility·groupSize)²/1e13), in millionths, at most
 * `FEE_RATE_LIMIT`.
 */
export function feeRateWithVolatility(
  baseRate: bigint,
  volatility: number,
  groupSize: number,
  control: bigint,
): bigint {
  const crossed = BigInt(volatility * groupSize);
  return minOf(baseRate + minOf(ceilDiv(control * crossed * crossed, CONTROL_SCALE), FEE_RATE_LIMIT), FEE_RATE_LIMIT);
}

/** The lists of several arrays in one of exactly their length: `flat` leaves room for sixteen more, in each of tens of thousands of markets. */
export function joined<T>(lists: readonly (readonly T[])[]): T[] {
  const none: T[] = [];
  return none.concat(...lists);
}
