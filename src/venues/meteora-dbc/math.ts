import { maxOf, minOf, U64_MAX } from "../../primitives/integer.ts";
import {
  amountAIn,
  amountAOut,
  amountBIn,
  amountBOut,
  priceAfterAIn,
  priceAfterAOut,
  priceAfterBIn,
  priceAfterBOut,
} from "../curves/constant-liquidity.ts";
import { volatilityAfter } from "../curves/price-volatility.ts";
import { addFee, baseFeeOnGross, baseFeeOnNet, type FeeMoment, takeFee } from "../curves/scheduled-fee.ts";
import { type DbcConfig, type DbcPool, dbcVolatilityFee } from "./layout.ts";

/** Amounts in base units. */
export interface DbcFill {
  /** Input that reaches the pool, venue fees included. */
  readonly input: bigint;
  /** Output that leaves the pool. */
  readonly output: bigint;
  /** The part of the input that moves the curve. */
  readonly netIn: bigint;
  /** Output of the curve before a fee on output. */
  readonly grossOut: bigint;
  /** Stretches of the curve that the trade crosses whole. */
  readonly crossed: number;
  /** True if it ends in the first stretch. */
  readonly endsLow: boolean;
  /** The square-root price that it leaves. */
  readonly sqrtPrice: bigint;
}

/** An amount found by walking the curve. */
interface Walk {
  readonly amount: bigint;
  readonly sqrtPrice: bigint;
  readonly crossed: number;
  readonly endsLow: boolean;
}

/**
 * What a trade's fee depends on, at a point of the pool's own time. The program activates a pool when it creates it: a point before
 * that is of a clock that is behind the chain's, and no trade lands then.
 */
export function dbcMoment(pool: DbcPool, selling: boolean, now: bigint): FeeMoment {
  const { activationPoint, sqrtPrice } = pool;
  const point = maxOf(now, activationPoint);
  return { point, activationPoint, buying: !selling, sqrtPrice, firstSqrtPrice: sqrtPrice };
}

/**
 * Simulates the program for `input`. Fees round up, the curve's output down.
 *
 * @returns undefined if the curve cannot take that much: a buy beyond its end, a sale beyond its start
 * @see @meteora-ag/dynamic-bonding-curve-sdk 1.5.12 `math/swapQuote.ts`, getSwapResultFromExactInput
 */
export function dbcExactIn(
  config: DbcConfig,
  pool: DbcPool,
  selling: boolean,
  input: bigint,
  moment: FeeMoment,
): DbcFill | undefined {
  const fee = totalFee(config, pool, baseFeeOnGross(config.baseFee, input, moment));
  const feeOnInput = !config.feeOnOutput && !selling;
  const netIn = feeOnInput ? takeFee(input, fee) : input;
  const walk = selling ? quoteForCoins(config, pool.sqrtPrice, netIn) : coinsForQuote(config, pool.sqrtPrice, netIn);
  if (walk === undefined) return undefined;
  const grossOut = walk.amount;
  return {
    input,
    netIn,
    grossOut,
    output: feeOnInput ? grossOut : takeFee(grossOut, fee),
    crossed: walk.crossed,
    endsLow: walk.endsLow,
    sqrtPrice: walk.sqrtPrice,
  };
}

/**
 * Input that the program charges for `output`. Every step rounds up.
 *
 * @returns undefined if the curve cannot give that much
 * @see @meteora-ag/dynamic-bonding-curve-sdk 1.5.12 `math/swapQuote.ts`, getSwapResultFromExactOutput
 */
export function dbcExactOut(
  config: DbcConfig,
  pool: DbcPool,
  selling: boolean,
  output: bigint,
  moment: FeeMoment,
): DbcFill | undefined {
  const feeOnInput = !config.feeOnOutput && !selling;
  const grossOut = feeOnInput ? output : beforeFee(config, pool, output, moment);
  if (grossOut === undefined) return undefined;
  const walk = selling
    ? coinsToGetQuote(config, pool.sqrtPrice, grossOut)
    : quoteToGetCoins(config, pool.sqrtPrice, grossOut);
  if (walk === undefined || walk.amount > U64_MAX) return undefined;
  const netIn = walk.amount;
  const input = feeOnInput ? beforeFee(config, pool, netIn, moment) : netIn;
  if (input === undefined || input > U64_MAX) return undefined;
  return { input, netIn, grossOut, output, crossed: walk.crossed, endsLow: walk.endsLow, sqrtPrice: walk.sqrtPrice };
}

/** The most a buy can put in, fees included, before the curve ends. Found by bisection: for error messages, not for quotes. */
export function dbcMostIn(config: DbcConfig, pool: DbcPool, moment: FeeMoment): bigint {
  let fits = 0n;
  let exceeds = U64_MAX;
  while (exceeds - fits > 1n) {
    const middle = (fits + exceeds) / 2n;
    if (dbcExactIn(config, pool, false, middle, moment) === undefined) exceeds = middle;
    else fits = middle;
  }
  return fits;
}

/** The pool that a trade leaves. `now` in Unix seconds. */
export function dbcAfter(config: DbcConfig, pool: DbcPool, selling: boolean, fill: DbcFill, now: bigint): DbcPool {
  const { sqrtPrice, netIn, grossOut } = fill;
  const quoteReserve = pool.quoteReserve + (selling ? -grossOut : netIn);
  const moved = { ...pool, sqrtPrice, quoteReserve, hasSwapped: true };
  if (config.volatility === undefined) return moved;
  const before = { ...config.volatility, ...pool.volatilityFrom, accumulated: pool.volatility };
  const { updatedAt, priceReference, reference, accumulated } = volatilityAfter(before, pool.sqrtPrice, sqrtPrice, now);
  return { ...moved, volatility: accumulated, volatilityFrom: { updatedAt, priceReference, reference } };
}

function beforeFee(config: DbcConfig, pool: DbcPool, net: bigint, moment: FeeMoment): bigint | undefined {
  const base = baseFeeOnNet(config.baseFee, net, moment);
  return base === undefined ? undefined : addFee(net, totalFee(config, pool, base));
}

function totalFee(config: DbcConfig, pool: DbcPool, baseFee: bigint): bigint {
  return minOf(baseFee + dbcVolatilityFee(config, pool), config.feeCap);
}

/** Buying: upwards, as far as the migration price. */
function coinsForQuote({ segments, migrationSqrtPrice }: DbcConfig, sqrtPrice: bigint, quote: bigint) {
  let price = sqrtPrice;
  let left = quote;
  let amount = 0n;
  let crossed = 0;
  for (const { upper, liquidity } of segments) {
    if (left === 0n || price === migrationSqrtPrice) break;
    const end = minOf(upper, migrationSqrtPrice);
    if (end <= price) continue;
    const room = amountBIn(price, end, liquidity);
    const whole = left >= room;
    const next = whole ? end : priceAfterBIn(price, liquidity, left);
    amount += amountAOut(price, next, liquidity);
    left = whole ? left - room : 0n;
    price = next;
    if (whole) crossed++;
  }
  return left === 0n ? { amount, sqrtPrice: price, crossed, endsLow: false } : undefined;
}

/** Selling: downwards, as far as the first price. In the first stretch the program looks for the price first. */
function quoteForCoins({ segments }: DbcConfig, sqrtPrice: bigint, coins: bigint): Walk | undefined {
  let price = sqrtPrice;
  let left = coins;
  let amount = 0n;
  let crossed = 0;
  let endsLow = false;
  for (let index = segments.length - 1; index >= 0 && left > 0n; index--) {
    const { lower, liquidity } = segments[index]!;
    endsLow = index === 0;
    if (!endsLow && lower >= price) continue;
    const room = amountAIn(lower, price, liquidity);
    const whole = !endsLow && left >= room;
    const reached = whole ? lower : priceAfterAIn(price, liquidity, left);
    const next = maxOf(reached, lower);
    amount += amountBOut(next, price, liquidity);
    left = whole || reached < lower ? left - room : 0n;
    price = next;
    if (whole) crossed++;
  }
  return left === 0n ? { amount, sqrtPrice: price, crossed, endsLow } : undefined;
}

/** Buying an amount of coins: what goes in. Once it is reached, stretches that hold no whole coin are still bought. */
function quoteToGetCoins({ segments, migrationSqrtPrice }: DbcConfig, sqrtPrice: bigint, coins: bigint) {
  let price = sqrtPrice;
  let left = coins;
  let amount = 0n;
  let crossed = 0;
  for (const { upper, liquidity } of segments) {
    if (upper <= price) continue;
    const room = amountAOut(price, upper, liquidity);
    const whole = left >= room;
    const next = whole ? upper : priceAfterAOut(price, liquidity, left);
    if (next === undefined) return undefined;
    amount += amountBIn(price, next, liquidity);
    left = whole ? left - room : 0n;
    price = next;
    if (!whole) break;
    crossed++;
  }
  return left === 0n && price <= migrationSqrtPrice ? { amount, sqrtPrice: price, crossed, endsLow: false } : undefined;
}

/** Selling for an amount of quote: what goes in. Once it is reached, stretches that hold no whole unit of quote are still sold into. */
function coinsToGetQuote({ segments }: DbcConfig, sqrtPrice: bigint, quote: bigint): Walk | undefined {
  let price = sqrtPrice;
  let left = quote;
  let amount = 0n;
  let crossed = 0;
  let endsLow = false;
  for (let index = segments.length - 1; index >= 0; index--) {
    const { lower, liquidity } = segments[index]!;
    endsLow = index === 0;
    if (lower >= price) continue;
    const room = amountBOut(lower, price, liquidity);
    if (endsLow && left > room) return undefined;
    const whole = !endsLow && left >= room;
    const next = whole ? lower : priceAfterBOut(price, liquidity, left);
    if (next === undefined || next < lower) return undefined;
    amount += amountAIn(next, price, liquidity);
    left = whole ? left - room : 0n;
    price = next;
    if (!whole) break;
    crossed++;
  }
  return left === 0n ? { amount, sqrtPrice: price, crossed, endsLow } : undefined;
}
