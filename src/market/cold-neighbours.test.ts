import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { advanceResting } from "../../test/support/background-turns.ts";
import { type FakeState, fakeState } from "../../test/support/fake-state.ts";
import { SEARCHED_PROGRAM, searchedVenue } from "../../test/support/searched-venue.ts";
import type { AccountReader } from "../chain/port.ts";
import { Address } from "../primitives/address.ts";
import { concatBytes, writeU32 } from "../primitives/bytes.ts";
import { SOL_MINT } from "../solana/programs.ts";
import { createMarkets, type LiveMarkets } from "./markets.ts";
import type { SearchCaller } from "./port.ts";

/** What the node takes for a call, on the test's own clock: latencies are exact, however busy the machine. Milliseconds. */
const READ_MS = 20;
const SEARCH_MS = 150;
/** Tokens each caller knows to have a market. */
const KNOWN = 400;
const SECONDS = 12;

/** Any number of addresses of a kind. */
function numbered(kind: number, n: number): Address {
  const bytes = new Uint8Array(32).fill(kind);
  writeU32(bytes, 0, n);
  return Address.from(bytes);
}

const victim: SearchCaller = { peer: "192.0.2.1", principal: { keyId: "victim" } };
const attacker = (address: number): SearchCaller => ({
  peer: `198.51.100.${address}`,
  principal: { keyId: `a${address}` },
});

let state: FakeState;
let markets: LiveMarkets;

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  state = fakeState(Date.now);
  for (let i = 0; i < KNOWN; i++)
    for (const kind of [1, 2])
      state.set(numbered(kind + 10, i), concatBytes(numbered(kind, i).bytes, SOL_MINT.bytes), SEARCHED_PROGRAM);
  markets = started();
});
afterEach(() => {
  markets.close();
  vi.useRealTimers();
});

function started(): LiveMarkets {
  const after = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const reader: AccountReader = {
    fetchAccounts: (addresses) => after(READ_MS).then(() => state.fetchAccounts(addresses)),
    fetchProgramAccounts: (filter) => after(SEARCH_MS).then(() => state.fetchProgramAccounts(filter)),
  };
  return createMarkets({
    ...{ reader, source: state, venues: [searchedVenue], now: Date.now, warn: () => {} },
    head: { slotAgeMs: () => 0, clock: () => ({ slot: 1n, epoch: 0n, unixTimestamp: 0n }) },
  });
}

/** A cold pair a second for a minute. @returns how long each took, and how many were refused */
async function asVictim(flood: () => void): Promise<{ readonly tookMs: readonly number[]; readonly refused: number }> {
  const warm = { a: numbered(1, 0), b: SOL_MINT };
  const first = markets.marketsOf(warm, victim);
  await advanceResting(1_000);
  await first;
  const tookMs: number[] = [];
  let refused = 0;
  for (let second = 1; second <= SECONDS; second++) {
    flood();
    const askedAtMs = Date.now();
    const found = Promise.resolve(markets.marketsOf({ a: numbered(1, second), b: SOL_MINT }, victim));
    found.then(
      ({ markets: all }) => {
        expect(all).toHaveLength(1);
        tookMs.push(Date.now() - askedAtMs);
      },
      () => {
        refused += 1;
      },
    );
    for (let ms = 0; ms < 1_000; ms += 100) {
      await advanceResting(100);
      // What is warm waits for nothing: it is answered within the turn that asks.
      expect(markets.marketsOf(warm, victim)).not.toBeInstanceOf(Promise);
    }
  }
  await advanceResting(5_000);
  return { tookMs: tookMs.sort((a, b) => a - b), refused };
}

test.each([1, 3])(
  "a flood from %i addresses makes a neighbour's cold pair take at most twice as long",
  async (addresses) => {
    const calm = await asVictim(() => {});
    expect(calm).toMatchObject({ refused: 0 });
    markets.close();
    markets = started();
    const searchesBefore = state.searches;
    let asked = 0;
    const attacked = await asVictim(() => {
      for (let i = 0; i < 30; i++) {
        const caller = attacker(i % addresses);
        asked += 1;
        const real = Promise.resolve(markets.marketsOf({ a: numbered(2, asked % KNOWN), b: SOL_MINT }, caller));
        const absent = Promise.resolve(markets.mint(numbered(3, asked), caller));
        for (const one of [real, absent]) one.catch(() => {});
      }
    });
    expect(attacked.refused).toBe(0);
    expect(attacked.tookMs).toHaveLength(SECONDS);
    expect(attacked.tookMs.at(-1)!).toBeLessThanOrEqual(2 * calm.tookMs.at(-1)!);
    // Two a second for a key, a minute's worth of them at once; a search is at most two calls here.
    const budget = (addresses * 2 + 2) * (SECONDS + 60);
    expect(state.searches - searchesBefore).toBeLessThanOrEqual(2 * budget);
  },
);
