import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type FakeEndpoint, fakeEndpoint } from "../../test/support/fake-chain.ts";
import { Address } from "../primitives/address.ts";
import { createPriorityFees, type LivePriorityFees, pricesOf } from "./priority-fees.ts";
import { createRpcPool } from "./rpc-pool.ts";

const bounds = {
  economy: { floor: 10n, cap: 1_000n },
  fast: { floor: 20n, cap: 2_000n },
  faster: { floor: 30n, cap: 3_000n },
  fastest: { floor: 40n, cap: 4_000n },
};
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
  fees = createPriorityFees({ pool, now: Date.now, warn: () => {}, bounds });
  await vi.advanceTimersByTimeAsync(0);
}

test("levels are nearest-rank percentiles", () => {
  const samples = Array.from({ length: 100 }, (_, i) => BigInt(100 - i));
  expect(pricesOf(samples)).toEqual({ economy: 25n, fast: 50n, faster: 75n, fastest: 95n });
  expect(pricesOf([5n])).toEqual({ economy: 5n, fast: 5n, faster: 5n, fastest: 5n });
  expect(pricesOf([])).toEqual({ economy: 0n, fast: 0n, faster: 0n, fastest: 0n });
});

test("the chain's prices are held between floor and cap", async () => {
  await start(() => [0, 0, 500, 99_999]);
  expect(fees.priceMicroLamportsPerCu("economy", [])).toBe(10n);
  expect(fees.priceMicroLamportsPerCu("fast", [])).toBe(20n);
  expect(fees.priceMicroLamportsPerCu("faster", [])).toBe(500n);
  expect(fees.priceMicroLamportsPerCu("fastest", [])).toBe(4_000n);
});

test("an account's own market counts from the refresh after it was first asked about", async () => {
  await start((writable) => (writable.length === 0 ? [100] : [900]));
  expect(fees.priceMicroLamportsPerCu("fast", [hot])).toBe(100n);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(fees.priceMicroLamportsPerCu("fast", [hot])).toBe(900n);
  expect(fees.priceMicroLamportsPerCu("fast", [])).toBe(100n);
});

test("a node without the method leaves the floors", async () => {
  fees = createPriorityFees({
    pool: createRpcPool({ endpoints: [fakeEndpoint({})], now: Date.now, warn: () => {} }),
    now: Date.now,
    warn: () => {},
    bounds,
  });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(fees.priceMicroLamportsPerCu("fastest", [])).toBe(40n);
});
