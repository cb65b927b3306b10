import { ceilDiv } from "../../primitives/integer.ts";
import { constantProductIn, constantProductOut } from "../curves/constant-product.ts";

/** A pool in one direction of trade. Base units. */
export interface AmmV4Side {
  readonly reserveIn: bigint;
  readonly reserveOut: bigint;
  readonly feeNumerator: bigint;
  readonly feeDenominator: bigint;
}

interface AmmV4Fill {
  readonly input: bigint;
  readonly output: bigint;
  /** The part of the input that moves the curve. */
  readonly netIn: bigint;
}

/**
 * Output of SwapBaseInV2 for `input`. The fee rounds up, the output down.
 *
 * @see raydium-amm `processor.rs` process_swap_base_in_v2, July 2026
 */
export function ammV4ExactIn(input: bigint, side: AmmV4Side): AmmV4Fill {
  const netIn = input - ceilDiv(input * side.feeNumerator, side.feeDenominator);
  return { input, output: constantProductOut(netIn, side.reserveIn, side.reserveOut), netIn };
}

/**
 * Input of SwapBaseOutV2 for `output`. Every step rounds up.
 *
 * @returns undefined if the pool cannot give that much
 * @see raydium-amm `processor.rs` process_swap_base_out_v2, July 2026
 */
export function ammV4ExactOut(output: bigint, side: AmmV4Side): AmmV4Fill | undefined {
  const netIn = constantProductIn(output, side.reserveIn, side.reserveOut);
  if (netIn === undefined || side.feeNumerator >= side.feeDenominator) return undefined;
  const input = ceilDiv(netIn * side.feeDenominator, side.feeDenominator - side.feeNumerator);
  return { input, output, netIn };
}

/**
 * True if the fee on an exact input is less than half a unit. Builds of the program before August 2025 round that to
 * nothing, later ones to one unit: such dust is not quoted.
 */
export function feeRoundsToNothing(input: bigint, { feeNumerator, feeDenominator }: AmmV4Side): boolean {
  return feeNumerator > 0n && 2n * input * feeNumerator < feeDenominator;
}

/** True if the curve's input for an exact output is less than half a unit: rounded as above, and not quoted. */
export function inputRoundsToNothing(output: bigint, { reserveIn, reserveOut }: AmmV4Side): boolean {
  return 2n * reserveIn * output < reserveOut - output;
}
