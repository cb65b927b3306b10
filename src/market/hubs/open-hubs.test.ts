import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type FakeState, fakeState } from "../../../test/support/fake-state.ts";
import { Address } from "../../primitives/address.ts";
import { concatBytes } from "../../primitives/bytes.ts";
import { HUB_MINTS } from "../../solana/hub-mints.ts";
import { SOL_MINT, USDC_MINT } from "../../solana/programs.ts";
import { programErrors } from "../../venues/shared/program-errors.ts";
import type { Venue } from "../../venues/venue.ts";
import { createMarkets, type LiveMarkets } from "../markets.ts";

const address = (fill: number) => Address.from(new Uint8Array(32).fill(fill));
const PROGRAM = address(20);
const TOKEN = address(1);
const OTHER = address(2);

/** A pool's data is its two mints. */
const venue: Venue = {
  id: "raydium_cpmm",
  programs: [PROGRAM],
  supports: { exactOut: true, token2022: true },
  search: ({ a, b }) =>
    [
      [a, b],
      [b, a],
    ].map(([first, second]) => ({
      kind: "filter",
      program: PROGRAM,
      memcmp: [{ offset: 0, bytes: concatBytes(first!.bytes, second!.bytes) }],
    })),
  decode: ({ data, address: at, owner }) =>
    data.length === 64 && owner === PROGRAM
      ? { venue: "raydium_cpmm", address: at, mints: [Address.from(data), Address.from(data, 32)], nativeSol: false }
      : undefined,
  needs: () => [],
  read: (market) => market,
  quote: (_, { mode, inMint, outMint, amount }) => ({
    ...{ mode, inMint, outMint, inAmount: amount, outAmount: amount },
    priceImpact: 0,
    fill: undefined,
  }),
  swap: () => {
    throw new Error("not asked");
  },
  errors: programErrors([]),
};

let state: FakeState;
let markets: LiveMarkets;

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  state = fakeState(Date.now);
  putPool(30, TOKEN, SOL_MINT);
  putPool(31, SOL_MINT, USDC_MINT);
  markets = createMarkets({
    ...{ reader: state, source: state, venues: [venue], now: Date.now, warn: () => {} },
    head: { slotAgeMs: () => 0, clock: () => ({ slot: 1n, epoch: 0n, unixTimestamp: 0n }) },
  });
});
afterEach(() => {
  markets.close();
  vi.useRealTimers();
});

function putPool(fill: number, a: Address, b: Address): void {
  state.set(address(fill), concatBytes(a.bytes, b.bytes), PROGRAM);
}

/** Asks for a trade as a build does, and lets the background work for `ms`. */
async function ask(a: Address, b: Address, ms: number): Promise<readonly Address[]> {
  markets.marketsOf({ a, b });
  const { mints } = markets.hubsOf!({ a, b });
  for (const hub of mints) {
    if (hub === a || hub === b) continue;
    markets.knownMarkets({ a, b: hub });
    markets.knownMarkets({ a: hub, b });
  }
  await vi.advanceTimersByTimeAsync(ms);
  return mints;
}

test("a hub that leads nowhere is left out of trades for SOL, in either direction", async () => {
  expect(await ask(SOL_MINT, TOKEN, 5_000)).toEqual(HUB_MINTS);
  await ask(SOL_MINT, TOKEN, 2_000);
  // Both pairs of the hub and the hubs of the token are known by now.
  expect(await ask(SOL_MINT, TOKEN, 2_000)).toEqual([]);
  expect(await ask(TOKEN, SOL_MINT, 0)).toEqual([]);
});

test("a market found at a hub counts at once, not when the memory of an empty hub expires", async () => {
  await ask(SOL_MINT, TOKEN, 5_000);
  await ask(SOL_MINT, TOKEN, 10_000);
  putPool(32, TOKEN, USDC_MINT);
  expect(await ask(SOL_MINT, TOKEN, 0)).toEqual([]);
  const pair = await markets.marketsOf({ a: USDC_MINT, b: TOKEN });
  expect(pair.markets).toHaveLength(1);
  expect(await ask(SOL_MINT, TOKEN, 0)).toEqual(HUB_MINTS);
});

test("trades without SOL keep every hub: its pairs say what lamports are worth", async () => {
  putPool(33, TOKEN, OTHER);
  await ask(TOKEN, OTHER, 5_000);
  await ask(TOKEN, OTHER, 2_000);
  expect(await ask(TOKEN, OTHER, 0)).toEqual(HUB_MINTS);
});

test("choosing hubs searches for no pair: those count against the caller that trades", async () => {
  await ask(SOL_MINT, TOKEN, 5_000);
  await ask(SOL_MINT, TOKEN, 2_000);
  // Pairs without a market are dropped long before others.
  await vi.advanceTimersByTimeAsync(200_000);
  await markets.marketsOf({ a: SOL_MINT, b: TOKEN });
  await vi.advanceTimersByTimeAsync(5_000);
  const { searches } = state;
  expect(markets.hubsOf!({ a: SOL_MINT, b: TOKEN }).mints).toEqual(HUB_MINTS);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(state.searches).toBe(searches);
});
