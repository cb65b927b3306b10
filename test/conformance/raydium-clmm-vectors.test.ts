import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { ClmmCurve } from "../../src/venues/raydium-clmm/curve.ts";
import { clmmAfter, swapClmm } from "../../src/venues/raydium-clmm/math.ts";
import { clmmSqrtPrice } from "../../src/venues/raydium-clmm/ticks/tick-price.ts";

/**
 * Answers of the program's public source of July 2026, run natively, for random pools with limit orders, fees that follow
 * volatility and fees on a fixed side: tick spacing, tick, price, liquidity, fee rate, fee side, volatility (reduction,
 * control, maximum, reference group, reference, accumulated, time), token 0 goes in, exact in, amount, time, ticks (tick, has
 * liquidity, net, orders), and token 0, token 1 and price after; null where it refused.
 */
type Vector = readonly [
  tickSpacing: number,
  tick: number,
  sqrtPrice: string,
  liquidity: string,
  feeRate: number,
  feeOn: number,
  volatility: readonly [number, number, number, number, number, number, number] | null,
  zeroForOne: boolean,
  exactIn: boolean,
  amount: string,
  now: number,
  ticks: readonly (readonly [tick: number, liquid: 0 | 1, net: string, orders: string])[],
  result: readonly [amount0: string, amount1: string, sqrtPrice: string] | null,
];

const vectors = JSON.parse(
  readFileSync(new URL("../fixtures/raydium-clmm-vectors.json", import.meta.url), "utf8"),
) as readonly Vector[];

function curveOf([tickSpacing, tick, sqrtPrice, liquidity, feeRate, feeOn, info, , , , , ticks]: Vector): ClmmCurve {
  return {
    tickSpacing,
    tick,
    sqrtPrice: BigInt(sqrtPrice),
    liquidity: BigInt(liquidity),
    feeRate: BigInt(feeRate),
    feeOn,
    ticks: ticks.map(([at]) => at),
    sqrtPrices: ticks.map(([at]) => clmmSqrtPrice(at)),
    hasLiquidity: ticks.map(([, liquid]) => liquid === 1),
    liquidityNet: ticks.map(([, , net]) => BigInt(net)),
    orders: ticks.map(([, , , orders]) => BigInt(orders)),
    volatility: info
      ? {
          filterPeriod: 30n,
          decayPeriod: 600n,
          reductionFactor: info[0],
          control: BigInt(info[1]),
          maximum: info[2],
          groupReference: info[3],
          reference: info[4],
          accumulated: info[5],
          updatedAt: BigInt(info[6]),
        }
      : undefined,
  };
}

/**
 * What the same source leaves, trade after trade on one pool: the pool as above, then the trades (token 0 goes in, exact in,
 * amount, time) with token 0, token 1, price, liquidity and tick after, the volatility (reference group, reference, accumulated,
 * time) and the orders that are left; null where it refused, which leaves the pool as it was.
 */
type Sequence = readonly [
  ...pool: readonly [Vector[0], Vector[1], Vector[2], Vector[3], Vector[4], Vector[5], Vector[6]],
  ticks: Vector[11],
  trades: readonly (readonly [
    zeroForOne: 0 | 1,
    exactIn: 0 | 1,
    amount: string,
    now: number,
    left:
      | readonly [
          amount0: string,
          amount1: string,
          sqrtPrice: string,
          liquidity: string,
          tick: number,
          volatility: readonly number[],
          orders: readonly (readonly [tick: number, unfilled: string])[],
        ]
      | null,
  ])[],
];

const sequences = JSON.parse(
  readFileSync(new URL("../fixtures/raydium-clmm-sequences.json", import.meta.url), "utf8"),
) as readonly Sequence[];

describe("raydium_clmm against the program's source of July 2026", () => {
  it("is exact, and refuses the same trades", () => {
    let matched = 0;
    let refused = 0;
    for (const [index, vector] of vectors.entries()) {
      const [, , , , , , , zeroForOne, exactIn, amount, now, , result] = vector;
      const fill = swapClmm(curveOf(vector), zeroForOne, exactIn, BigInt(amount), BigInt(now));
      if (result === null) {
        refused++;
        expect(fill, `vector ${index}`).toBeUndefined();
        continue;
      }
      matched += fill?.matched ?? 0;
      const amounts = zeroForOne ? [fill?.input, fill?.output] : [fill?.output, fill?.input];
      expect(amounts, `vector ${index}`).toEqual([BigInt(result[0]), BigInt(result[1])]);
      const after = clmmAfter(curveOf(vector), zeroForOne, exactIn, BigInt(amount), BigInt(now));
      expect(after?.curve.sqrtPrice, `vector ${index}`).toBe(BigInt(result[2]));
    }
    expect(vectors.length - refused).toBeGreaterThanOrEqual(300);
    expect(matched).toBeGreaterThan(100);
  });

  it("leaves what the program leaves: price, tick, liquidity, volatility and orders, trade after trade", () => {
    let trades = 0;
    let matched = 0;
    for (const [index, [spacing, tick, price, liquidity, fee, feeOn, info, ticks, made]] of sequences.entries()) {
      let curve = curveOf([spacing, tick, price, liquidity, fee, feeOn, info, true, true, "0", 0, ticks, null]);
      for (const [at, [zeroForOne, exactIn, amount, now, left]] of made.entries()) {
        const what = `sequence ${index}, trade ${at}`;
        const after = clmmAfter(curve, zeroForOne === 1, exactIn === 1, BigInt(amount), BigInt(now));
        if (left === null) {
          expect(after, what).toBeUndefined();
          continue;
        }
        expect(after, what).toBeDefined();
        const { fill } = after!;
        curve = after!.curve;
        trades++;
        matched += fill.matched;
        const { volatility } = curve;
        const measured = volatility && [
          volatility.groupReference,
          volatility.reference,
          volatility.accumulated,
          Number(volatility.updatedAt),
        ];
        const orders = curve.ticks.flatMap((one, place) => {
          const unfilled = curve.orders[place]!;
          return unfilled > 0n ? [[one, String(unfilled)]] : [];
        });
        const amounts = zeroForOne === 1 ? [fill.input, fill.output] : [fill.output, fill.input];
        const said = [...amounts, curve.sqrtPrice, curve.liquidity].map(String);
        expect([...said, curve.tick, measured ?? [], orders], what).toEqual(left);
      }
    }
    expect(trades).toBeGreaterThan(800);
    expect(matched).toBeGreaterThan(100);
  });
});
