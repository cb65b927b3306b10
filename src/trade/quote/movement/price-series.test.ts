import { expect, test } from "vitest";
import { createRandom } from "../../../primitives/random.ts";
import { MOST_PRICES, PRICE_EVERY_MS, PriceSeries } from "./price-series.ts";

const SPAN_MS = 60_000;
/** Prices one after another, at the usual pace. */
function seriesOf(prices: readonly number[], fromMs = 0): PriceSeries {
  const series = new PriceSeries();
  for (const [index, price] of prices.entries()) series.add(fromMs + index * PRICE_EVERY_MS, price);
  return series;
}
const still = (count: number): number[] => Array.from({ length: count }, () => 1_000_000);

test("a price that stands still does not move, one that rises does not either", () => {
  expect(seriesOf(still(200)).movementOver(SPAN_MS).movement).toBe(0);
  expect(seriesOf(still(200).map((price, at) => price + at)).movementOver(SPAN_MS).movement).toBe(0);
});

test("without prices, or with few, nothing is stated", () => {
  expect(new PriceSeries().movementOver(SPAN_MS)).toMatchObject({ samples: 0, windowMs: 0, movement: undefined });
  const few = seriesOf(still(12 + 19)).movementOver(SPAN_MS);
  expect(few).toMatchObject({ samples: 19, movement: undefined });
  expect(seriesOf(still(12 + 20)).movementOver(SPAN_MS)).toMatchObject({ samples: 20, movement: 0 });
});

test("a steady fall moves by what it loses in one span", () => {
  const prices = Array.from({ length: 300 }, (_, at) => 1_000_000 * 0.999 ** at);
  expect(seriesOf(prices).movementOver(SPAN_MS).movement).toBeCloseTo(1 - 0.999 ** 12, 9);
});

test("one manipulated price in half an hour moves nothing, wherever it lies and whichever way it points", () => {
  for (let at = 0; at < MOST_PRICES; at += 7) {
    for (const spike of [1, 500_000, 2_000_000, 1e15]) {
      const prices = still(MOST_PRICES);
      prices[at] = spike;
      expect(seriesOf(prices).movementOver(SPAN_MS).movement).toBe(0);
    }
  }
});

test("prices that are none are left out, and so are times that do not rise", () => {
  const series = seriesOf(still(100));
  for (const price of [Number.NaN, 0, -1, Number.POSITIVE_INFINITY]) series.add(1e9, price);
  series.add(10, 1);
  expect(series.movementOver(SPAN_MS)).toMatchObject({ samples: 88, movement: 0 });
});

test("a gap hides what happened in it: spans across it do not count", () => {
  const series = seriesOf(still(50));
  for (let at = 0; at < 50; at++) series.add(1_000_000 + at * PRICE_EVERY_MS, 500_000);
  expect(series.movementOver(SPAN_MS)).toMatchObject({ samples: 2 * 38, movement: 0 });
});

test("the quantile is that of the losses from every moment, by definition", () => {
  const random = createRandom(16);
  for (let round = 0; round < 20; round++) {
    const prices = [1_000_000];
    while (prices.length < MOST_PRICES)
      prices.push(prices.at(-1)! * (1 + (Number(random.below(2_001n)) - 1_000) / 100_000));
    const losses = prices
      .slice(0, -12)
      .map((price, at) => 1 - Math.min(...prices.slice(at, at + 13)) / price)
      .sort((a, b) => a - b);
    const { samples, movement } = seriesOf(prices).movementOver(SPAN_MS);
    expect(samples).toBe(MOST_PRICES - 12);
    expect(movement).toBeCloseTo(losses[Math.ceil(0.95 * losses.length) - 1]!, 12);
  }
});
