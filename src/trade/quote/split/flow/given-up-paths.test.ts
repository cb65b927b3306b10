import { expect, test } from "vitest";
import { MarketCurve } from "../curves/market-curve.ts";
import { fillWholly } from "./fill-network.ts";
import { INPUT, OUTPUT } from "./flow.ts";

const AMOUNT = 1e12;
const HUBS = [2, 3] as const;

/** A deep market of this price. */
function curveOf(price: number): MarketCurve {
  const curve = new MarketCurve({} as never, {} as never, {} as never, new Map());
  for (const part of [1, 1 / 4, 1 / 16, 1 / 64]) {
    const size = 2 * AMOUNT * part;
    curve.learn(size, (size * price * 10 * AMOUNT) / (10 * AMOUNT + size));
  }
  return curve;
}

/** A market of the pair, and a path over one hub or two that is as good as said. */
function networkOf(hubs: readonly number[], price: number) {
  const mints = [INPUT, ...hubs, OUTPUT];
  const path = mints.slice(1).map((to, at) => ({ from: mints[at]!, to, curve: curveOf(at === 0 ? price : 1) }));
  return { mints: 4, edges: [{ from: INPUT, to: OUTPUT, curve: curveOf(1) }, ...path] };
}

test.each([1, 2])("a path over %s hubs that is found to be worse gives up all that it has", (count) => {
  const hubs = HUBS.slice(0, count);
  const closed = new Uint8Array(1 + count + 1);
  const search = { inAmount: AMOUNT, parts: 16, leastParts: 1_024, maxLegs: 3, closed };
  const start = fillWholly(networkOf(hubs, 1), search)!;
  expect(start.paths.length).toBe(2);
  const worse = networkOf(hubs, 0.5);
  const flow = fillWholly(worse, search, start)!;
  expect(flow.paths.map(({ legs }) => legs[1])).toEqual([-1]);
  expect(flow.inAmount / AMOUNT).toBeCloseTo(1, 9);
  expect(flow.outAmount).toBeCloseTo(worse.edges[0]!.curve.out(AMOUNT), -1);
});
