import { minOf, squareRoot, U64_MAX } from "../../primitives/integer.ts";
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
import { constantProductIn, constantProductOut } from "../curves/constant-product.ts";
import { volatilityAfter } from "../curves/price-volatility.ts";
import {
  addFee,
  baseFeeOnGross,
  baseFeeOnNet,
  type FeeMoment,
  takeFee,
  volatilityFee,
} from "../curves/scheduled-fee.ts";
import type { DammV2Pool } from "./layout.ts";

/** Amounts on the pool's side of any token transfer fee. Base units. */
export interface DammV2Fill {
  /** Input that reaches the pool, venue fees included. */
  readonly input: bigint;
  /** Output that leaves the pool. */
  readonly output: bigint;
  /** The part of the input that moves the curve. */
  readonly netIn: bigint;
  /** Output of the curve before a fee on output. */
  readonly grossOut: bigint;
}

/** What a trade's fee depends on: the pool's state at `point` of its own time. */
export function dammV2Moment(pool: DammV2Pool, aToB: boolean, point: bigint): FeeMoment {
  const { activationPoint, sqrtPrice, firstSqrtPrice } = pool;
  return { point, activationPoint, buying: !aToB, sqrtPrice, firstSqrtPrice };
}

/**
 * Simulates the program for `input` arriving in the pool. Fees round up, the curve's output down.
 *
 * @returns undefined if the price would leave the pool's range
 * @see @meteora-ag/cp-amm-sdk 1.5.0 `math/swapQuote.ts`, getSwapResultFromExactInput
 */
export function dammV2ExactIn(
  pool: DammV2Pool,
  aToB: boolean,
  input: bigint,
  moment: FeeMoment,
): DammV2Fill | undefined {
  const fee = totalFee(pool, baseFeeOnGross(pool.baseFee, input, moment));
  const feeOnInput = paysOnInput(pool, aToB);
  const netIn = feeOnInput ? takeFee(input, fee) : input;
  const grossOut = curveOut(pool, aToB, netIn);
  if (grossOut === undefined) return undefined;
  return { input, netIn, grossOut, output: feeOnInput ? grossOut : takeFee(grossOut, fee) };
}

/**
 * Input that the program charges for `output` leaving the pool. Every step rounds up.
 *
 * @returns undefined if the pool cannot give that much
 * @see @meteora-ag/cp-amm-sdk 1.5.0 `math/swapQuote.ts`, getSwapResultFromExactOutput
 */
export function dammV2ExactOut(
  pool: DammV2Pool,
  aToB: boolean,
  output: bigint,
  moment: FeeMoment,
): DammV2Fill | undefined {
  const feeOnInput = paysOnInput(pool, aToB);
  const grossOut = feeOnInput ? output : beforeFee(pool, output, moment);
  if (grossOut === undefined) return undefined;
  const netIn = curveIn(pool, aToB, grossOut);
  if (netIn === undefined || netIn > U64_MAX) return undefined;
  const input = feeOnInput ? beforeFee(pool, netIn, moment) : netIn;
  return input === undefined || input > U64_MAX ? undefined : { input, netIn, grossOut, output };
}

function beforeFee(pool: DammV2Pool, net: bigint, moment: FeeMoment): bigint | undefined {
  const base = baseFeeOnNet(pool.baseFee, net, moment);
  return base === undefined ? undefined : addFee(net, totalFee(pool, base));
}

function totalFee(pool: DammV2Pool, baseFee: bigint): bigint {
  return minOf(baseFee + pool.volatilityFee, pool.feeCap);
}

const paysOnInput = (pool: DammV2Pool, aToB: boolean): boolean => pool.feeSide === "tokenB" && !aToB;

function curveOut(pool: DammV2Pool, aToB: boolean, input: bigint): bigint | undefined {
  const { sqrtPrice, liquidity, reserves } = pool;
  if (pool.compounding) {
    const [reserveIn, reserveOut] = aToB ? reserves : [reserves[1], reserves[0]];
    return reserveIn === 0n ? undefined : constantProductOut(input, reserveIn, reserveOut);
  }
  if (liquidity === 0n) return undefined;
  if (aToB) {
    const next = priceAfterAIn(sqrtPrice, liquidity, input);
    return next < pool.minSqrtPrice ? undefined : amountBOut(next, sqrtPrice, liquidity);
  }
  const next = priceAfterBIn(sqrtPrice, liquidity, input);
  return next > pool.maxSqrtPrice ? undefined : amountAOut(sqrtPrice, next, liquidity);
}

function curveIn(pool: DammV2Pool, aToB: boolean, output: bigint): bigint | undefined {
  const { sqrtPrice, liquidity, reserves } = pool;
  if (pool.compounding) {
    const [reserveIn, reserveOut] = aToB ? reserves : [reserves[1], reserves[0]];
    return constantProductIn(output, reserveIn, reserveOut);
  }
  if (liquidity === 0n) return undefined;
  if (aToB) {
    const next = priceAfterBOut(sqrtPrice, liquidity, output);
    return next === undefined || next < pool.minSqrtPrice ? undefined : amountAIn(next, sqrtPrice, liquidity);
  }
  const next = priceAfterAOut(sqrtPrice, liquidity, output);
  return next === undefined || next > pool.maxSqrtPrice ? undefined : amountBIn(sqrtPrice, next, liquidity);
}

/**
 * The pool that a trade leaves.
 *
 * @param exactIn whether the curve was moved by its input or by its output: the roundings differ
 * @param now Unix seconds
 */
export function dammV2After(
  pool: DammV2Pool,
  aToB: boolean,
  exactIn: boolean,
  fill: DammV2Fill,
  now: bigint,
): DammV2Pool | undefined {
  if (pool.compounding) return withReserves(pool, aToB, fill, now);
  const sqrtPrice = priceAfter(pool, aToB, exactIn, fill);
  return sqrtPrice === undefined ? undefined : withPrice(pool, sqrtPrice, now);
}

function priceAfter(
  { sqrtPrice, liquidity }: DammV2Pool,
  aToB: boolean,
  exactIn: boolean,
  { netIn, grossOut }: DammV2Fill,
): bigint | undefined {
  if (exactIn) {
    return aToB ? priceAfterAIn(sqrtPrice, liquidity, netIn) : priceAfterBIn(sqrtPrice, liquidity, netIn);
  }
  return aToB ? priceAfterBOut(sqrtPrice, liquidity, grossOut) : priceAfterAOut(sqrtPrice, liquidity, grossOut);
}

/** A compounding pool keeps a part of the fee, which is always in B, in its reserves. */
function withReserves(pool: DammV2Pool, aToB: boolean, fill: DammV2Fill, now: bigint): DammV2Pool {
  const { reserves, protocolPercent, compoundingBps } = pool;
  const fee = fill.input - fill.netIn + (fill.grossOut - fill.output);
  const kept = ((fee - (fee * protocolPercent) / 100n) * compoundingBps) / 10_000n;
  const [a, b] = aToB ? [fill.netIn, kept - fill.grossOut] : [-fill.grossOut, fill.netIn + kept];
  const after = [reserves[0] + a, reserves[1] + b] as const;
  const moved = { ...pool, reserves: after };
  return withPrice(moved, squareRoot((after[1] << 128n) / after[0]), now);
}

function withPrice(pool: DammV2Pool, sqrtPrice: bigint, now: bigint): DammV2Pool {
  if (pool.volatility === undefined) return { ...pool, sqrtPrice };
  const { binStep, control } = pool.volatility;
  const after = volatilityAfter(pool.volatility, pool.sqrtPrice, sqrtPrice, now);
  const fee = volatilityFee(after.accumulated, binStep, control);
  return { ...pool, sqrtPrice, volatility: { ...after, binStep, control }, volatilityFee: fee };
}

/** Base units of B per unit of A before the trade, as a fraction. */
export function dammV2Price(pool: DammV2Pool): readonly [numerator: bigint, denominator: bigint] {
  return pool.compounding ? [pool.reserves[1], pool.reserves[0]] : [pool.sqrtPrice * pool.sqrtPrice, 1n << 128n];
}
