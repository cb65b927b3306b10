import { expect, test } from "vitest";
import type { HotMarket } from "../../../../market/port.ts";
import { Address } from "../../../../primitives/address.ts";
import { allAtOnce } from "../../long-searches.ts";
import { MarketCurve } from "../curves/market-curve.ts";
import { fillNetwork } from "../flow/fill-network.ts";
import { INPUT, OUTPUT } from "../flow/flow.ts";
import { StepWork } from "../steps/step-work.ts";
import { ShapeSearch } from "./split-shape.ts";

const MINT = Address.from(new Uint8Array(32));
const AMOUNT = 1_000_000;
const CLOCK = { slot: 1n, epoch: 1n, unixTimestamp: 1n };
const SIZES = 32;

function curveOf(outOf: (input: number) => number): MarketCurve {
  const curve = new MarketCurve({} as HotMarket, MINT, MINT, new Map());
  for (let step = 1; step <= SIZES; step++) curve.learn((AMOUNT * step) / SIZES, outOf((AMOUNT * step) / SIZES));
  return curve;
}

test("a market whose price never falls stays, though it gains nothing over its own last part", () => {
  const constant = curveOf((input) => 0.99 * input);
  const products = [0.8, 0.7, 0.6, 0.5].map((part) =>
    curveOf((input) => (1.3 * input * AMOUNT * part) / (AMOUNT * part + input)),
  );
  const edges = [...products, constant].map((curve) => ({ from: INPUT, to: OUTPUT, curve }));
  const network = {
    mints: 2,
    edges,
    addresses: [MINT, MINT],
    isLimited: false,
    onwardRates: new Float64Array(2),
    leastRates: [],
  };
  const terms = {
    inAmount: AMOUNT,
    exchanges: true,
    maxLegs: 1,
    clock: CLOCK,
    budget: { left: 0 },
    work: new StepWork(),
  };
  const search = allAtOnce(ShapeSearch.begin({ network, terms }, new Uint8Array(edges.length)));
  const shape = allAtOnce(search.shapeFor(4))!;
  const best = edges.map((_, left) => {
    const closed = Uint8Array.from(edges, (_, index) => Number(index === left));
    return fillNetwork(network, { inAmount: AMOUNT, parts: 16, leastParts: 128, maxLegs: 1, closed })!.outAmount;
  });
  expect(shape.outAmount / Math.max(...best)).toBeGreaterThan(1 - 1e-6);
});
