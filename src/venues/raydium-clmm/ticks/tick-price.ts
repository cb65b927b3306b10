import { U128_MAX } from "../../../primitives/integer.ts";
import { createPowerLadder, Q64, tickAtPrice } from "../../curves/concentrated-liquidity.ts";

/** 1.0001^(−2^i / 2) in Q64, cut shorter than the fixed point allows, for i from 0. */
const FACTORS = [
  0xfffcb933bd6fb800n,
  0xfff97272373d4000n,
  0xfff2e50f5f657000n,
  0xffe5caca7e10f000n,
  0xffcb9843d60f7000n,
  0xff973b41fa98e800n,
  0xff2ea16466c9b000n,
  0xfe5dee046a9a3800n,
  0xfcbe86c7900bb000n,
  0xf987a7253ac65800n,
  0xf3392b0822bb6000n,
  0xe7159475a2caf000n,
  0xd097f3bdfd2f2000n,
  0xa9f746462d9f8000n,
  0x70d869a156f31c00n,
  0x31be135f97ed3200n,
  0x9aa508b5b85a500n,
  0x5d6af8dedc582cn,
  0x2216e584f5fan,
];
const ladder = createPowerLadder(Q64, 64n, FACTORS);

/**
 * The square-root price of a tick within MIN_TICK and MAX_TICK, in Q64.64, to the program's last bit. Prices above 1 are
 * the inverse of those below, rounded down. Constants and rounding are not those of Orca Whirlpools.
 *
 * @see raydium-clmm `libraries/tick_math.rs`
 */
export function clmmSqrtPrice(tick: number): bigint {
  const ratio = ladder(Math.abs(tick));
  return tick > 0 ? U128_MAX / ratio : ratio;
}

/** The tick of a square-root price within the ticks: the last one that is not above it. */
export function clmmTickAt(sqrtPrice: bigint): number {
  return tickAtPrice(sqrtPrice, clmmSqrtPrice);
}
