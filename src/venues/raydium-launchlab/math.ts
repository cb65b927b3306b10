import { ceilDiv, squareRoot } from "../../primitives/integer.ts";
import { constantProductIn, constantProductOut } from "../curves/constant-product.ts";
import { beforeFee, feeOn } from "../shared/raydium-fee.ts";

/** Scale of a linear curve's slope; the area under it is half of slope × base². */
const SLOPE_BITS = 64n;

/** 0 constant product, 1 fixed price, 2 price rising with what was sold. */
export type LaunchCurveType = 0 | 1 | 2;

/** A pool as a trade reads it. Base units; the rate is the sum of all fees, in millionths. */
export interface LaunchCurve {
  readonly type: LaunchCurveType;
  readonly virtualBase: bigint;
  readonly virtualQuote: bigint;
  readonly realBase: bigint;
  readonly realQuote: bigint;
  readonly totalBaseSell: bigint;
  readonly feeRate: bigint;
}

/** Amounts on the pool's side of any token transfer fee. */
export interface LaunchFill {
  readonly input: bigint;
  readonly output: bigint;
  /** The part of the input that moves the curve. */
  readonly netIn: bigint;
  /** Output of the curve before a fee on it. */
  readonly grossOut: bigint;
}

/**
 * Spends `input` of the quote token. The fee is taken first, rounded up; the curve's output is rounded down.
 *
 * @returns undefined if that is more than is left for sale
 */
export function buyExactIn(input: bigint, curve: LaunchCurve): LaunchFill | undefined {
  const netIn = input - feeOn(input, curve.feeRate);
  const output = baseForQuote(netIn, curve);
  if (output > curve.totalBaseSell - curve.realBase) return undefined;
  return { input, output, netIn, grossOut: output };
}

/**
 * Buys `output` of the base token. Every step rounds up.
 *
 * @returns undefined if that is more than is left for sale
 */
export function buyExactOut(output: bigint, curve: LaunchCurve): LaunchFill | undefined {
  if (output > curve.totalBaseSell - curve.realBase) return undefined;
  const netIn = quoteForBase(output, curve);
  const input = netIn === undefined ? undefined : beforeFee(netIn, curve.feeRate);
  return netIn === undefined || input === undefined ? undefined : { input, output, netIn, grossOut: output };
}

/**
 * Sells `input` of the base token. The curve's output is rounded down, the fee on it up.
 *
 * @returns undefined if that is more than was sold
 */
export function sellExactIn(input: bigint, curve: LaunchCurve): LaunchFill | undefined {
  if (input > curve.realBase) return undefined;
  const grossOut = quoteFromBase(input, curve);
  if (grossOut > curve.realQuote) return undefined;
  return { input, output: grossOut - feeOn(grossOut, curve.feeRate), netIn: input, grossOut };
}

/**
 * Sells the amount of base token that yields `output`. Every step rounds up.
 *
 * @returns undefined if that is more than was raised
 */
export function sellExactOut(output: bigint, curve: LaunchCurve): LaunchFill | undefined {
  const grossOut = beforeFee(output, curve.feeRate);
  if (grossOut === undefined || grossOut > curve.realQuote) return undefined;
  const input = baseFromQuote(grossOut, curve);
  if (input === undefined || input > curve.realBase) return undefined;
  return { input, output, netIn: input, grossOut };
}

/** False for a curve that divides by zero, or by what is less: none of its trades can be priced. */
export function hasPrice(curve: LaunchCurve): boolean {
  switch (curve.type) {
    case 0:
      return baseReserve(curve) > 0n && quoteReserve(curve) > 0n;
    case 1:
      return curve.virtualBase > 0n && curve.virtualQuote > 0n;
    case 2:
      return curve.virtualBase > 0n;
  }
}

/** The price before a trade as quote units per base unit, a fraction. */
export function launchPrice(curve: LaunchCurve): readonly [numerator: bigint, denominator: bigint] {
  switch (curve.type) {
    case 0:
      return [quoteReserve(curve), baseReserve(curve)];
    case 1:
      return [curve.virtualQuote, curve.virtualBase];
    case 2:
      return [curve.virtualBase * curve.realBase, 1n << SLOPE_BITS];
  }
}

function baseForQuote(quote: bigint, curve: LaunchCurve): bigint {
  switch (curve.type) {
    case 0:
      return constantProductOut(quote, quoteReserve(curve), baseReserve(curve));
    case 1:
      return (quote * curve.virtualBase) / curve.virtualQuote;
    case 2:
      return baseAt(curve.realQuote + quote, curve) - curve.realBase;
  }
}

function quoteForBase(base: bigint, curve: LaunchCurve): bigint | undefined {
  switch (curve.type) {
    case 0:
      return constantProductIn(base, quoteReserve(curve), baseReserve(curve));
    case 1:
      return ceilDiv(base * curve.virtualQuote, curve.virtualBase);
    case 2:
      return quoteAt(curve.realBase + base, curve) - curve.realQuote;
  }
}

function quoteFromBase(base: bigint, curve: LaunchCurve): bigint {
  switch (curve.type) {
    case 0:
      return constantProductOut(base, baseReserve(curve), quoteReserve(curve));
    case 1:
      return (base * curve.virtualQuote) / curve.virtualBase;
    case 2:
      return curve.realQuote - quoteAt(curve.realBase - base, curve);
  }
}

function baseFromQuote(quote: bigint, curve: LaunchCurve): bigint | undefined {
  switch (curve.type) {
    case 0:
      return constantProductIn(quote, baseReserve(curve), quoteReserve(curve));
    case 1:
      return ceilDiv(quote * curve.virtualBase, curve.virtualQuote);
    case 2:
      return curve.realBase - baseAt(curve.realQuote - quote, curve);
  }
}

function baseReserve({ virtualBase, realBase }: LaunchCurve): bigint {
  return virtualBase - realBase;
}

function quoteReserve({ virtualQuote, realQuote }: LaunchCurve): bigint {
  return virtualQuote + realQuote;
}

/** Base tokens sold when `quote` has been raised on a linear curve, rounded down. */
function baseAt(quote: bigint, { virtualBase: slope }: LaunchCurve): bigint {
  return squareRoot((quote << (SLOPE_BITS + 1n)) / slope);
}

/** Quote tokens raised when `base` has been sold on a linear curve, rounded up. */
function quoteAt(base: bigint, { virtualBase: slope }: LaunchCurve): bigint {
  return ceilDiv(slope * base * base, 1n << (SLOPE_BITS + 1n));
}
