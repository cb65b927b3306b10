import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type FakeEndpoint, fakeEndpoint } from "../../../test/support/fake-chain.ts";
import { Address } from "../../primitives/address.ts";
import { compileMessage } from "../../solana/message.ts";
import { COMPUTE_BUDGET_PROGRAM } from "../../solana/programs.ts";
import { NodeError } from "../rpc/node-error.ts";
import { createRpcPool } from "../rpc/rpc-pool.ts";
import { expectedSlots, medianPrice, pricesOf } from "./fee-samples.ts";
import { createPercentileFees, createStockFees } from "./fee-sources.ts";
import { FeeWindow } from "./fee-window.ts";
import { ownPriceOf } from "./own-price.ts";
import { createPriorityFees, type LivePriorityFees } from "./priority-fees.ts";

const bounds = {
  economy: { floor: 10n, cap: 1_000n },
  fast: { floor: 20n, cap: 2_000n },
  faster: { floor: 30n, cap: 3_000n },
  fastest: { floor: 40n, cap: 4_000n },
};
const NO_TRIMS = { economy: 0, fast: 0, faster: 0, fastest: 0 };
const hot = Address.from(new Uint8Array(32).fill(7));
let endpoint: FakeEndpoint;
let fees: LivePriorityFees;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  fees?.close();
  vi.useRealTimers();
});

async function start(fee: (writable: readonly string[]) => readonly number[]): Promise<void> {
  endpoint = fakeEndpoint({
    getRecentPrioritizationFees: (writable: readonly string[]) =>
      fee(writable).map((prioritizationFee, slot) => ({ slot, prioritizationFee })),
  });
  const pool = createRpcPool({ endpoints: [endpoint], now: Date.now, warn: () => {} });
  fees = createPriorityFees({ sources: [createStockFees(pool, NO_TRIMS)], now: Date.now, warn: () => {}, bounds });
  await vi.advanceTimersByTimeAsync(0);
}

test("levels are nearest-rank percentiles", () => {
  const samples = Array.from({ length: 100 }, (_, i) => BigInt(100 - i));
  expect(pricesOf(samples)).toEqual({ economy: 25n, fast: 50n, faster: 75n, fastest: 95n });
  expect(pricesOf([5n])).toEqual({ economy: 5n, fast: 5n, faster: 5n, fastest: 5n });
  expect(pricesOf([])).toEqual({ economy: 0n, fast: 0n, faster: 0n, fastest: 0n });
});

test("the chain's prices stay between floor and cap", async () => {
  await start(() => [0, 0, 500, 99_999]);
  expect(fees.priceMicroLamportsPerCu("economy", [])).toBe(10n);
  expect(fees.priceMicroLamportsPerCu("fast", [])).toBe(20n);
  expect(fees.priceMicroLamportsPerCu("faster", [])).toBe(500n);
  expect(fees.priceMicroLamportsPerCu("fastest", [])).toBe(4_000n);
});

test("an account's own market counts from the refresh after the first question about it", async () => {
  await start((writable) => (writable.length === 0 ? [100] : [900]));
  expect(fees.priceMicroLamportsPerCu("fast", [hot])).toBe(100n);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(fees.priceMicroLamportsPerCu("fast", [hot])).toBe(900n);
  expect(fees.priceMicroLamportsPerCu("fast", [])).toBe(100n);
});

test("without a node that serves the method, the floors apply", async () => {
  fees = createPriorityFees({
    sources: [
      createStockFees(createRpcPool({ endpoints: [fakeEndpoint({})], now: Date.now, warn: () => {} }), NO_TRIMS),
    ],
    now: Date.now,
    warn: () => {},
    bounds,
  });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(fees.priceMicroLamportsPerCu("fastest", [])).toBe(40n);
});

test("outliers are ignored, most expensive first", () => {
  const samples = [...Array.from({ length: 95 }, () => 10n), ...Array.from({ length: 5 }, () => 1_000_000n)];
  expect(pricesOf(samples).fastest).toBe(10n);
  expect(pricesOf([...samples, 1_000_000n]).fastest).toBe(1_000_000n);
  expect(pricesOf([...samples, 1_000_000n], { ...NO_TRIMS, fastest: 5 }).fastest).toBe(10n);
  expect(medianPrice([1n, 2n, 3n, 100n], 0)).toBe(2n);
  expect(medianPrice([], 0)).toBe(0n);
});

test("the expected wait follows from the share of recent slots in which the price was enough", () => {
  expect(expectedSlots([1n, 2n, 3n, 4n], 4n)).toBe(1);
  expect(expectedSlots([1n, 2n, 3n, 4n], 1n)).toBe(4);
  expect(expectedSlots([5n, 6n], 1n)).toBe(2);
  expect(expectedSlots([], 1n)).toBe(1);
});

/** A node that reports percentiles of a slot's prices 0, 100, 200 … 1,000. */
function percentileNode(answer: (percentile: number | undefined) => unknown) {
  const node = fakeEndpoint({
    getRecentPrioritizationFees: (_writable: unknown, config?: { percentile: number }) => answer(config?.percentile),
  });
  const pool = createRpcPool({ endpoints: [node], now: Date.now, warn: () => {} });
  return { node, pool };
}

test("a node that reports percentiles is asked for them", async () => {
  const { pool } = percentileNode((percentile = 0) => [
    { slot: 1, prioritizationFee: Math.round(percentile / 10) },
    { slot: 2, prioritizationFee: Math.round(percentile / 10) },
  ]);
  const source = createPercentileFees(pool, { now: Date.now, warn: () => {}, trims: NO_TRIMS });
  expect((await source.read([]))?.prices).toEqual({ economy: 250n, fast: 500n, faster: 750n, fastest: 950n });
});

test.each([
  ["overlooks the parameter", () => [{ slot: 1, prioritizationFee: 7 }]],
  [
    "refuses the parameter",
    () => {
      throw new NodeError("answered", "Invalid params", { rpcCode: -32602 });
    },
  ],
])("a node that %s is not asked for percentiles again, with one warning", async (_name, answer) => {
  const { node, pool } = percentileNode(answer);
  const warnings: string[] = [];
  const source = createPercentileFees(pool, {
    now: Date.now,
    warn: (message) => void warnings.push(message),
    trims: NO_TRIMS,
  });
  expect(await source.read([])).toBeUndefined();
  expect(await source.read([hot])).toBeUndefined();
  expect(node.countOf("getRecentPrioritizationFees")).toBe(2);
  expect(warnings).toHaveLength(1);
});

test("on a quiet chain idle slots count, old ones do not, and own payments are left out", () => {
  let newest = 1_000n;
  const window = new FeeWindow(() => newest);
  const listed = Array.from({ length: 14 }, (_, i) => ({ slot: 900n + BigInt(i), price: 4_000n }));
  expect(pricesOf(window.samples(listed))).toEqual({ economy: 0n, fast: 0n, faster: 0n, fastest: 4_000n });
  for (const own of listed.slice(0, 13)) window.noteOwn(own);
  expect(window.samples(listed).filter((price) => price > 0n)).toHaveLength(1);
  expect(
    window.samples([
      { slot: 900n, price: 3_999n },
      { slot: 999_999n, price: 5n },
    ])[0],
  ).toBe(3_999n);
  newest = 1_064n;
  expect(window.samples(listed).every((price) => price === 0n)).toBe(true);
});

test("at rest the chain's fees are read every ten seconds, and no account's", async () => {
  await start(() => [100]);
  const count = () => endpoint.countOf("getRecentPrioritizationFees");
  for (let i = 0; i < 5; i++) {
    fees.priceMicroLamportsPerCu("fast", [hot]);
    await vi.advanceTimersByTimeAsync(2_000);
  }
  expect(count()).toBe(1 + 2 * 5);
  await vi.advanceTimersByTimeAsync(12_000);
  const before = count();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(count() - before).toBeLessThanOrEqual(7);
});

test("many accounts take turns, an eighth of them a refresh, and those that cost more than the chain come sooner", async () => {
  const accounts = Array.from({ length: 24 }, (_, i) => Address.from(new Uint8Array(32).fill(20 + i)));
  const [dear] = accounts;
  const reads = new Map<string, number>();
  await start(([address]) => {
    if (address !== undefined) reads.set(address, (reads.get(address) ?? 0) + 1);
    return address === dear!.toString() ? [900] : [100];
  });
  for (let i = 0; i < 40; i++) {
    fees.priceMicroLamportsPerCu("fast", accounts);
    await vi.advanceTimersByTimeAsync(2_000);
  }
  expect(endpoint.countOf("getRecentPrioritizationFees")).toBe(1 + 40 * (1 + 3));
  const others = accounts.slice(1).map((address) => reads.get(address.toString())!);
  expect(Math.min(...others)).toBeGreaterThanOrEqual(4);
  expect(reads.get(dear!.toString())).toBeGreaterThan(1.5 * Math.max(...others));
});

test("accounts asked about for the first time do not keep a busy one at what it cost long ago", async () => {
  let isBusy = true;
  await start(([address]) => [address === hot.toString() && isBusy ? 1_900 : 100]);
  const isPriced = () => fees.priceMicroLamportsPerCu("fast", [hot]);
  isPriced();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(isPriced()).toBe(1_900n);
  isBusy = false;
  // Two new markets a second, each of which one trade goes over.
  for (let second = 0; second < 60; second++) {
    for (const kind of [1, 2])
      fees.priceMicroLamportsPerCu("fast", [Address.from(new Uint8Array(32).fill(kind).fill(second, 0, 4))]);
    isPriced();
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(isPriced()).toBe(100n);
});

test("the price of an own transaction is read from its bytes, in every version", () => {
  const payer = Address.from(new Uint8Array(32).fill(3));
  const blockhash = new Uint8Array(32).fill(9);
  const instructions = [...budgetInstructionsOf(123_456n)];
  const signed = (message: Uint8Array) => Uint8Array.of(1, ...new Uint8Array(64), ...message);
  expect(ownPriceOf(signed(compileMessage({ payer, instructions, blockhash, lookupTables: [] })))).toBe(123_456n);
  expect(ownPriceOf(signed(compileMessage({ payer, instructions: [], blockhash, lookupTables: [] })))).toBe(0n);
});

function budgetInstructionsOf(price: bigint) {
  const data = new Uint8Array(9);
  data[0] = 3;
  new DataView(data.buffer).setBigUint64(1, price, true);
  return [{ program: COMPUTE_BUDGET_PROGRAM, accounts: [], data }];
}
