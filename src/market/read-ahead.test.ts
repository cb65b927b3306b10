import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { fakeState } from "../../test/support/fake-state.ts";
import { Address } from "../primitives/address.ts";
import { createRandom } from "../primitives/random.ts";
import { SOL_MINT } from "../solana/programs.ts";
import { createMarkets } from "./markets.ts";

const random = createRandom(12);
const mint = Address.from(random.bytes(32));
const wallet = Address.from(random.bytes(32));
const IDLE_MS = 60_000;

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

function open() {
  const state = fakeState(Date.now);
  const markets = createMarkets({
    reader: state,
    source: state,
    head: { slotAgeMs: () => 0, clock: () => ({ slot: 1n, epoch: 0n, unixTimestamp: 0n }) },
    venues: [],
    now: Date.now,
    warn: () => {},
    idleMs: IDLE_MS,
  });
  return { state, markets };
}

test("reading ahead asks no node, and follows nothing", async () => {
  const { state, markets } = open();
  for (const pair of [
    { a: SOL_MINT, b: mint },
    { a: mint, b: SOL_MINT },
    { a: mint, b: wallet },
  ])
    markets.readAhead!(pair, wallet);
  await vi.advanceTimersByTimeAsync(1_000);
  expect([state.follows, state.fetches]).toEqual([0, 0]);
  expect(markets.size()).toEqual({ pairs: 0, accounts: 0 });
  markets.close();
});

test("what is only read ahead is not in use", async () => {
  const { markets } = open();
  await markets.warm([wallet]);
  expect(markets.size().accounts).toBe(1);
  for (let ms = 0; ms < 3 * IDLE_MS; ms += IDLE_MS / 2) {
    markets.readAhead!({ a: SOL_MINT, b: mint }, wallet);
    await vi.advanceTimersByTimeAsync(IDLE_MS / 2);
  }
  expect(markets.size().accounts).toBe(0);
  markets.close();
});
