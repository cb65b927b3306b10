import { ceilDiv } from "../../primitives/integer.ts";

/** Fee rates of Raydium's programs are in millionths. */
const RATE_DENOMINATOR = 1_000_000n;

/** The fee on an amount, rounded up. */
export function feeOn(amount: bigint, rate: bigint): bigint {
  return ceilDiv(amount * rate, RATE_DENOMINATOR);
}

/** The amount that leaves `net` after the fee, rounded up; undefined if the fee takes everything. */
export function beforeFee(net: bigint, rate: bigint): bigint | undefined {
  return rate >= RATE_DENOMINATOR ? undefined : ceilDiv(net * RATE_DENOMINATOR, RATE_DENOMINATOR - rate);
}

/** True if the fees on a trade are more than the trade, as no program allows: what a curve gives for less than nothing is no price. */
export function exceedsTrade(rate: bigint): boolean {
  return rate > RATE_DENOMINATOR;
}
