import type { TickList } from "../curves/concentrated-liquidity.ts";
import type { ClmmVolatility } from "./layout.ts";

/** A pool as a swap reads it. */
export interface ClmmCurve extends TickList {
  readonly hasLiquidity: readonly boolean[];
  /** Unfilled limit orders at each tick, in the token they sell. */
  readonly orders: readonly bigint[];
  /** Millionths, without the part that follows volatility. */
  readonly feeRate: bigint;
  /** Who pays the fee: 0 the input, 1 always token 0, 2 always token 1. */
  readonly feeOn: number;
  readonly liquidity: bigint;
  readonly sqrtPrice: bigint;
  readonly tick: number;
  readonly tickSpacing: number;
  readonly volatility: ClmmVolatility | undefined;
}

/** The curve with the rest of its orders: ticks that hold nothing any more are dropped. */
export function withOrders(curve: ClmmCurve, unfilled: ReadonlyMap<number, bigint>): ClmmCurve {
  const orders = curve.orders.map((amount, index) => unfilled.get(index) ?? amount);
  const kept = [...orders.keys()].filter((index) => curve.hasLiquidity[index] || orders[index]! > 0n);
  const of = <T>(list: readonly T[]): T[] => kept.map((index) => list[index]!);
  return {
    ...curve,
    ticks: of(curve.ticks),
    liquidityNet: of(curve.liquidityNet),
    hasLiquidity: of(curve.hasLiquidity),
    orders: of(orders),
    sqrtPrices: of(curve.sqrtPrices),
  };
}
