import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type FakeEndpoint, fakeEndpoint } from "../../../test/support/fake-chain.ts";
import { Address } from "../../primitives/address.ts";
import type { Priority } from "../port.ts";
import { createRpcPool } from "../rpc/rpc-pool.ts";
import { createNodeFees } from "./node-fees.ts";
import { createPriorityFees, type LivePriorityFees } from "./priority-fees.ts";

const CAP = 1_000_000n;
const LEVEL = { floor: 10n, cap: CAP };
const bounds: Readonly<Record<Priority, typeof LEVEL>> = { economy: LEVEL, fast: LEVEL, faster: LEVEL, fastest: LEVEL };
const trims = { economy: 0, fast: 0, faster: 0, fastest: 0 };
const market = Address.from(new Uint8Array(32).fill(7));
const METHOD = "getRecentPrioritizationFees";
const LIE = 2 ** 40;

let fees: LivePriorityFees;
let warnings: string[];
beforeEach(() => {
  vi.useFakeTimers();
  warnings = [];
});
afterEach(() => {
  fees.close();
  vi.useRealTimers();
});

/** A node that reports a price of the chain and of the market, at every percentile if it serves them. */
function node(name: string, price: (ofMarket: boolean) => number, servesPercentiles = false): FakeEndpoint {
  const answer = (writable: readonly string[], config?: { readonly percentile: number }) => {
    const part = config === undefined || !servesPercentiles ? 1 : config.percentile / 5_000;
    return [1, 2, 3].map((slot) => ({ slot, prioritizationFee: Math.round(price(writable.length > 0) * part) }));
  };
  return fakeEndpoint({ [METHOD]: answer }, name);
}

/** The price of level "fast", of the chain and of the market, after both were read. */
async function pricesOver(endpoints: readonly FakeEndpoint[]): Promise<readonly bigint[]> {
  const now = Date.now;
  const warn = (line: string) => void warnings.push(line);
  const pool = createRpcPool({ endpoints, now, warn });
  fees = createPriorityFees({ sources: createNodeFees(pool, { now, warn, trims }), now, warn, bounds });
  await vi.advanceTimersByTimeAsync(0);
  fees.priceMicroLamportsPerCu("fast", [market]);
  await vi.advanceTimersByTimeAsync(6_000);
  return [[], [market]].map((writable) => fees.priceMicroLamportsPerCu("fast", writable));
}

test.each([
  ["the chain and the market", (price: number) => () => price],
  ["the market alone", (price: number) => (ofMarket: boolean) => (ofMarket ? price : 2_000)],
])("one of several nodes that overstates the prices of %s sets none", async (_what, of) => {
  for (const others of [1, 2]) {
    for (const place of [0, others]) {
      const endpoints: FakeEndpoint[] = Array.from({ length: others }, (_, i) => node(`honest ${i}`, () => 2_000));
      endpoints.splice(place, 0, node("liar", of(LIE)));
      expect(await pricesOver(endpoints)).toEqual([2_000n, 2_000n]);
      fees.close();
    }
  }
});

test("nor does one that overstates percentiles, beside one that serves them and one that does not", async () => {
  const endpoints = [node("liar", () => LIE, true), node("honest", () => 2_000, true), node("stock", () => 20)];
  expect(await pricesOver(endpoints)).toEqual([2_000n, 2_000n]);
});

test("one that raises its prices step by step comes as far as twice what another bears out", async () => {
  let price = 2_000;
  const endpoints = [node("liar", () => price), node("honest", () => 2_000)];
  await pricesOver(endpoints);
  for (let round = 0; round < 40; round++) {
    price *= 1.5;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(fees.priceMicroLamportsPerCu("fast", [market])).toBeLessThanOrEqual(4_000n);
  }
  expect(warnings.filter((line) => /liar/.test(line))).toHaveLength(1);
});

test("prices that rise on all nodes count at once, for few calls more", async () => {
  let price = 2_000;
  const endpoints = ["a", "b", "c"].map((name) => node(name, () => price));
  await pricesOver(endpoints);
  price = 500_000;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(fees.priceMicroLamportsPerCu("fast", [])).toBe(500_000n);
  const before = endpoints.map((one) => one.countOf(METHOD));
  await vi.advanceTimersByTimeAsync(60_000);
  const [first, ...others] = endpoints.map((one, i) => one.countOf(METHOD) - before[i]!);
  expect(first).toBeGreaterThan(0);
  expect(others.every((count) => count <= 4)).toBe(true);
  expect(warnings.filter((line) => /overstates|prices of priority/.test(line))).toEqual([]);
});

test("what one node reports while the others are away does not count for long after", async () => {
  const honest = node("honest", () => 2_000);
  const { methods } = honest;
  const answer = methods[METHOD]!;
  delete methods[METHOD];
  expect(await pricesOver([node("liar", () => 900_000), honest])).toEqual([900_000n, 900_000n]);
  methods[METHOD] = answer;
  // A node that has refused a method is not asked for it again for ten minutes.
  for (let ms = 0; ms < 620_000; ms += 2_000) {
    fees.priceMicroLamportsPerCu("fast", [market]);
    await vi.advanceTimersByTimeAsync(2_000);
  }
  expect([[], [market]].map((one) => fees.priceMicroLamportsPerCu("fast", one))).toEqual([2_000n, 2_000n]);
});

test("a single node, and one whose neighbours are away, is believed", async () => {
  expect(await pricesOver([node("only", () => 9_000)])).toEqual([9_000n, 9_000n]);
  fees.close();
  expect(await pricesOver([node("one", () => 9_000), fakeEndpoint({}, "away")])).toEqual([9_000n, 9_000n]);
});
