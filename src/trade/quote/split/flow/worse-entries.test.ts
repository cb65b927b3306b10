import { expect, test, vi } from "vitest";
import { createRandom } from "../../../../primitives/random.ts";
import { MarketCurve } from "../curves/market-curve.ts";
import { fillNetwork } from "./fill-network.ts";
import { INPUT, OUTPUT } from "./flow.ts";

const AMOUNT = 1e12;
const HUB = 2;

/** A market with this depth and price that takes at most so much. */
function curveOf(depth: number, price: number, most: number): MarketCurve {
  const curve = new MarketCurve({} as never, {} as never, {} as never, new Map());
  for (let part = 12; part >= 0; part--) {
    const size = most / 2 ** part;
    curve.learn(size, (size * price * depth) / (depth + size));
  }
  return curve;
}

test("the input for an output is the reverse of the output for an input", () => {
  const random = createRandom(7);
  const part = () => random.u32() / 2 ** 32;
  for (let round = 0; round < 200; round++) {
    const curve = curveOf(AMOUNT * (0.01 + part() * 10), 10 ** (part() * 12 - 6), AMOUNT);
    const input = AMOUNT * part() ** 4;
    expect(curve.inputFor(curve.out(input)) / input).toBeCloseTo(1, 6);
  }
  const curve = curveOf(AMOUNT, 1, AMOUNT);
  expect(curve.inputFor(0)).toBe(0);
  expect(curve.inputFor(curve.out(AMOUNT) * 1.001)).toBe(Number.POSITIVE_INFINITY);
});

test.each([1.03, 1.3, 2, 5, 1e3, 1e8])(
  "an entry that is %s times worse takes what the exits leave of the better one",
  (times) => {
    for (const part of [0.99, 0.9, 0.7, 0.5]) {
      for (const exits of [1, 2]) {
        // Over the worse entry alone a little less than the exits take would arrive.
        const taken = part * AMOUNT;
        const edges = [
          { from: INPUT, to: HUB, curve: curveOf(100 * AMOUNT, 1.1, 2 * AMOUNT) },
          { from: INPUT, to: HUB, curve: curveOf(100 * AMOUNT, Math.min(1.1 / times, part), 2 * AMOUNT) },
          ...Array.from({ length: exits }, () => ({
            from: HUB,
            to: OUTPUT,
            curve: curveOf(1e3 * AMOUNT, 1, taken / exits),
          })),
        ];
        const search = {
          parts: 16,
          leastParts: 128,
          inAmount: AMOUNT,
          maxLegs: 3,
          closed: new Uint8Array(edges.length),
        };
        const flow = fillNetwork({ mints: 3, edges }, search);
        expect([part, exits, (flow?.outAmount ?? 0) / taken]).toEqual([part, exits, expect.closeTo(1, 2)]);
      }
    }
  },
);

test("what no market takes is given up after bounded work, however many entries there are", () => {
  const edges = Array.from({ length: 8 }, (_, index) => [
    { from: INPUT, to: HUB, curve: curveOf(3 * AMOUNT, 0.93 ** index, 2 * AMOUNT) },
    { from: HUB, to: OUTPUT, curve: curveOf(3 * AMOUNT, 0.999 ** index, 0.4 * (AMOUNT / 8)) },
  ]).flat();
  const asked = vi.spyOn(MarketCurve.prototype, "out");
  const search = { parts: 16, leastParts: 128, inAmount: AMOUNT, maxLegs: 3, closed: new Uint8Array(edges.length) };
  expect(fillNetwork({ mints: 3, edges }, search)).toBeUndefined();
  expect(asked.mock.calls.length).toBeLessThan(20_000);
});

test("more than the entries take is given up, also where a little less was placed before", () => {
  const random = createRandom(1);
  const part = () => random.u32() / 2 ** 32;
  for (let round = 0; round < 800; round++) {
    const entries = 2 + Math.floor(part() * 2);
    const edges = [
      ...Array.from({ length: entries }, () => ({
        from: INPUT,
        to: HUB,
        curve: curveOf(AMOUNT * 10 ** (part() - 1), 10 ** -part(), AMOUNT / entries),
      })),
      { from: HUB, to: OUTPUT, curve: curveOf(100 * AMOUNT, 1, 10 * AMOUNT) },
      { from: INPUT, to: OUTPUT, curve: curveOf(AMOUNT * 10 ** (part() - 1), 1, AMOUNT / 8) },
    ];
    const cut = { parts: 16, leastParts: 128, maxLegs: 3, closed: new Uint8Array(edges.length) };
    const network = { mints: 3, edges };
    const placed = fillNetwork(network, { ...cut, inAmount: AMOUNT * (0.9 + part() * 0.224) });
    expect(placed?.outAmount).toBeGreaterThan(0);
    expect([round, fillNetwork(network, { ...cut, inAmount: 1.3 * AMOUNT }, placed)]).toEqual([round, undefined]);
  }
});
