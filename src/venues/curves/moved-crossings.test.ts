import { expect, test } from "vitest";
import { createRandom, type Random } from "../../primitives/random.ts";
import type { ClmmCurve } from "../raydium-clmm/curve.ts";
import { type ClmmFill, swapClmm } from "../raydium-clmm/math.ts";
import { clmmSqrtPrice, clmmTickAt } from "../raydium-clmm/ticks/tick-price.ts";
import { mostWalkUnits } from "./moved-crossings.ts";

const LARGEST = 10n ** 14n;
const PARTS = 1_000_000n;

/** A pool without fees whose positions begin and end at drawn ticks, at a price. */
interface Positions {
  readonly ticks: readonly number[];
  readonly liquidityNet: readonly bigint[];
}

function drawPositions(random: Random): Positions {
  const net = new Map<number, bigint>();
  const add = (tick: number, liquidity: bigint) => net.set(tick, (net.get(tick) ?? 0n) + liquidity);
  for (let left = random.pick([3, 12, 40]); left > 0; left--) {
    const low = -Number(random.between(1n, 700n));
    const liquidity = random.magnitude(LARGEST);
    add(low, liquidity);
    add(low + Number(random.between(1n, 900n)), -liquidity);
  }
  add(-2_000, 10n ** 9n);
  add(2_000, -(10n ** 9n));
  const ticks = [...net.keys()].filter((tick) => net.get(tick) !== 0n).sort((a, b) => a - b);
  return { ticks, liquidityNet: ticks.map((tick) => net.get(tick)!) };
}

function curveAt({ ticks, liquidityNet }: Positions, sqrtPrice: bigint): ClmmCurve {
  const tick = clmmTickAt(sqrtPrice);
  return {
    ticks,
    liquidityNet,
    sqrtPrices: ticks.map(clmmSqrtPrice),
    hasLiquidity: ticks.map(() => true),
    orders: ticks.map(() => 0n),
    liquidity: liquidityNet.reduce((sum, added, at) => (ticks[at]! <= tick ? sum + added : sum), 0n),
    ...{ feeRate: 0n, feeOn: 0, sqrtPrice, tick, tickSpacing: 1, volatility: undefined },
  };
}

/** The least output, or the most input, that slippage allows. */
function thresholdOf({ input, output }: ClmmFill, exactIn: boolean, slippage: number): bigint {
  const kept = BigInt(Math.round((1 - slippage) * Number(PARTS)));
  return exactIn ? (output * kept) / PARTS : (input * PARTS) / kept;
}

test("no trade that lands at a moved price within its slippage crosses more ticks than there is room for", () => {
  const random = createRandom(8_600_017);
  let [landed, further] = [0, 0];
  for (let pool = 0; pool < 60; pool++) {
    const positions = drawPositions(random);
    const curve = curveAt(positions, clmmSqrtPrice(Number(random.between(0n, 200n)) - 100) + 7n);
    for (let trade = 0; trade < 20; trade++) {
      const [zeroForOne, exactIn] = [random.chance(0.5), random.chance(0.5)];
      const slippage = random.pick([0.001, 0.005, 0.02]);
      const amount = random.magnitude(10n ** 12n) + 1_000n;
      const quoted = swapClmm(curve, zeroForOne, exactIn, amount, 0n);
      if (quoted === undefined || quoted.output < 1_000n) continue;
      const threshold = thresholdOf(quoted, exactIn, slippage);
      const mode = exactIn ? ("exactIn" as const) : ("exactOut" as const);
      const swap = { zeroForOne, mode, inAmount: quoted.input, outAmount: quoted.output, threshold };
      const room = mostWalkUnits(curve, swap, { crossing: 1, searched: 0 });
      for (let move = 0; move < 20; move++) {
        const bps = Number(random.between(0n, 2_000n)) / 1_000 - 1;
        const moved = curve.tick + Math.round(bps * slippage * 10_000);
        const start = clmmSqrtPrice(moved) + random.between(0n, clmmSqrtPrice(moved + 1) - clmmSqrtPrice(moved) - 1n);
        const fill = swapClmm(curveAt(positions, start), zeroForOne, exactIn, amount, 0n);
        if (fill === undefined || (exactIn ? fill.output < threshold : fill.input > threshold)) continue;
        landed++;
        if (fill.crossed > quoted.crossed) further++;
        expect([pool, trade, move, Math.max(fill.crossed, room)]).toEqual([
          pool,
          trade,
          move,
          Math.max(room, quoted.crossed),
        ]);
      }
    }
  }
  expect(landed).toBeGreaterThan(5_000);
  expect(further).toBeGreaterThan(500);
});
