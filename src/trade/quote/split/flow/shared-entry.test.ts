import { expect, test } from "vitest";
import type { HotMarket } from "../../../../market/port.ts";
import { Address } from "../../../../primitives/address.ts";
import { createRandom, type Random } from "../../../../primitives/random.ts";
import { MarketCurve } from "../curves/market-curve.ts";
import { fillNetwork } from "./fill-network.ts";
import { type FlowEdge, INPUT, OUTPUT } from "./flow.ts";

const NETWORKS = 200;
const HUB = 2;
const AMOUNT = 1_000_000;
const MINT = Address.from(new Uint8Array(32));
/** Sizes that a curve is known at, as parts of the most that goes in. */
const SIZES = 32;
/** Rounding of doubles. Fraction. */
const ROUNDING = 1e-6;

/** A constant product of equal sides that takes up to `most`, and gives whole units of this size. */
function curveOf(reserve: number, most: number, unit = 0): MarketCurve {
  const curve = new MarketCurve({} as HotMarket, MINT, MINT, new Map());
  for (let step = 1; step <= SIZES; step++) {
    const input = (most * step) / SIZES;
    const output = (reserve * input) / (reserve + input);
    curve.learn(input, unit === 0 ? output : Math.floor(output / unit) * unit);
  }
  return curve;
}

/** One market to a hub whose mint moves in such units, and several behind it that take only so much. */
function drawEdges(random: Random, unit: number): readonly FlowEdge[] {
  const part = () => 0.05 + random.u32() / 2 ** 32;
  const reserve = AMOUNT * (1 + 9 * part());
  const edges: FlowEdge[] = [
    { from: INPUT, to: OUTPUT, curve: curveOf(AMOUNT * part() * 0.2, 4 * AMOUNT) },
    { from: INPUT, to: HUB, curve: curveOf(reserve, 2 * AMOUNT, unit) },
  ];
  for (let market = 0; market < 4; market++)
    edges.push({ from: HUB, to: OUTPUT, curve: curveOf(2 * AMOUNT * part(), AMOUNT * part() * 0.4) });
  return edges;
}

test.each([0, AMOUNT / 100])(
  `markets behind one entry are given no more than they take in ${NETWORKS} networks, in units of %s`,
  (unit) => {
    const random = createRandom(12);
    const search = { inAmount: AMOUNT, parts: 16, leastParts: 128, maxLegs: 2 };
    for (let drawn = 0; drawn < NETWORKS; drawn++) {
      const edges = drawEdges(random, unit);
      const flow = fillNetwork({ mints: 3, edges }, { ...search, closed: new Uint8Array(edges.length) });
      for (const [index, { curve }] of edges.entries())
        expect(flow!.inputs[index]! / curve.most, `network ${drawn}, market ${index}`).toBeLessThanOrEqual(
          1 + ROUNDING,
        );
    }
  },
);
