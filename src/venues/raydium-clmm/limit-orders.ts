import { ceilDiv, minOf } from "../../primitives/integer.ts";
import { Q64 } from "../curves/concentrated-liquidity.ts";

const FEE_DENOMINATOR = 1_000_000n;

/** What limit orders, or a stretch of liquidity, take and give. The pool's side, in base units. */
export interface Exchange {
  readonly amountIn: bigint;
  /** After a fee on output. */
  readonly amountOut: bigint;
  readonly fee: bigint;
}

/**
 * Fills limit orders at a tick, at the tick's price: their output is rounded down, their input up.
 *
 * @param unfilled amount the orders still sell, all cohorts together
 * @param rate fee in millionths
 * @see raydium-clmm `states/tick_array.rs` match_limit_order_with_sqrt_price
 */
export function matchOrders(
  unfilled: bigint,
  sqrtPrice: bigint,
  remaining: bigint,
  rate: bigint,
  exactIn: boolean,
  zeroForOne: boolean,
  feeOnInput: boolean,
): Exchange {
  const square = sqrtPrice * sqrtPrice;
  const price = zeroForOne ? square >> 64n : (square + Q64 - 1n) >> 64n;
  const outputFor = (input: bigint): bigint => (zeroForOne ? (input * price) >> 64n : (input << 64n) / price);
  const inputFor = (output: bigint): bigint =>
    zeroForOne ? ceilDiv(output << 64n, price) : ceilDiv(output * price, Q64);
  const feeOnNet = (input: bigint): bigint => ceilDiv(input * rate, FEE_DENOMINATOR - rate);

  let amountIn: bigint;
  let grossOut: bigint;
  let fee = 0n;
  if (exactIn) {
    if (feeOnInput) fee = ceilDiv(remaining * rate, FEE_DENOMINATOR);
    amountIn = remaining - fee;
    grossOut = outputFor(amountIn);
    if (grossOut > unfilled) {
      grossOut = unfilled;
      amountIn = inputFor(unfilled);
      if (feeOnInput) fee = feeOnNet(amountIn);
    }
  } else {
    const net = minOf(remaining, unfilled);
    grossOut = feeOnInput ? net : minOf(ceilDiv(net * FEE_DENOMINATOR, FEE_DENOMINATOR - rate), unfilled);
    amountIn = inputFor(grossOut);
    if (feeOnInput) fee = feeOnNet(amountIn);
  }
  if (feeOnInput) return { amountIn, amountOut: grossOut, fee };
  fee = ceilDiv(grossOut * rate, FEE_DENOMINATOR);
  return { amountIn, amountOut: grossOut - fee, fee };
}
