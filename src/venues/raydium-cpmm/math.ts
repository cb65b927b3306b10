import { constantProductIn, constantProductOut } from "../curves/constant-product.ts";
import { beforeFee, feeOn } from "../shared/raydium-fee.ts";

/** A pool in one direction of trade. Base units; rates in millionths. */
export interface CpmmDirection {
  readonly reserveIn: bigint;
  readonly reserveOut: bigint;
  readonly tradeFeeRate: bigint;
  /** 0 if the pool has no creator fee. */
  readonly creatorFeeRate: bigint;
  readonly creatorFeeOnInput: boolean;
}

/** Amounts on the pool's side of any token transfer fee. */
export interface CpmmFill {
  /** Input that reaches the pool, venue fees included. */
  readonly input: bigint;
  /** Output that leaves the pool. */
  readonly output: bigint;
  /** The part of the input that moves the curve. */
  readonly netIn: bigint;
  /** Output of the curve before a creator fee on output. */
  readonly grossOut: bigint;
}

/**
 * Result of `swap_base_input` with `input` arriving in the pool. Fees round up, the curve's output rounds down.
 *
 * @see raydium-cp-swap `curve/calculator.rs`, swap_base_input
 */
export function cpmmExactIn(input: bigint, side: CpmmDirection): CpmmFill {
  const inputRate = side.tradeFeeRate + (side.creatorFeeOnInput ? side.creatorFeeRate : 0n);
  const netIn = input - feeOn(input, inputRate);
  const grossOut = constantProductOut(netIn, side.reserveIn, side.reserveOut);
  const output = side.creatorFeeOnInput ? grossOut : grossOut - feeOn(grossOut, side.creatorFeeRate);
  return { input, output, netIn, grossOut };
}

/**
 * Result of `swap_base_output` with `output` leaving the pool. Every step rounds up.
 *
 * @returns undefined if the pool cannot give that much
 * @see raydium-cp-swap `curve/calculator.rs`, swap_base_output
 */
export function cpmmExactOut(output: bigint, side: CpmmDirection): CpmmFill | undefined {
  const inputRate = side.tradeFeeRate + (side.creatorFeeOnInput ? side.creatorFeeRate : 0n);
  const grossOut = side.creatorFeeOnInput ? output : beforeFee(output, side.creatorFeeRate);
  if (grossOut === undefined) return undefined;
  const netIn = constantProductIn(grossOut, side.reserveIn, side.reserveOut);
  if (netIn === undefined) return undefined;
  const input = beforeFee(netIn, inputRate);
  return input === undefined ? undefined : { input, output, netIn, grossOut };
}

/**
 * True if the curve's input for `grossOut` is less than half a unit. Builds of the program before late 2025 round that
 * to nothing and refuse the trade, later ones take one unit: it is not quoted.
 */
export function cpmmRoundsToNothing(grossOut: bigint, { reserveIn, reserveOut }: CpmmDirection): boolean {
  return 2n * reserveIn * grossOut < reserveOut - grossOut;
}

const MILLION = 1_000_000n;

/**
 * The part of an input that joins the curve: all but the parts of its fees that are owed to the protocol, the fund and the
 * creator, each rounded down.
 *
 * @see raydium-cp-swap `curve/calculator.rs`, split_creator_fee, and `curve/fees.rs`
 */
export function cpmmLeftInCurve(
  { input, netIn }: CpmmFill,
  { tradeFeeRate, creatorFeeRate, creatorFeeOnInput }: CpmmDirection,
  { protocolShare, fundShare }: { readonly protocolShare: bigint; readonly fundShare: bigint },
): bigint {
  const fees = input - netIn;
  const both = tradeFeeRate + creatorFeeRate;
  const creatorFee = creatorFeeOnInput && both > 0n ? (fees * creatorFeeRate) / both : 0n;
  const tradeFee = fees - creatorFee;
  return input - creatorFee - (tradeFee * protocolShare) / MILLION - (tradeFee * fundShare) / MILLION;
}
