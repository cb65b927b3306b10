import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { backgroundRested } from "../../test/support/background-turns.ts";
import { type FakeState, fakeState } from "../../test/support/fake-state.ts";
import { SEARCHED_PROGRAM, searchedVenue } from "../../test/support/searched-venue.ts";
import { Address } from "../primitives/address.ts";
import { concatBytes, writeU32 } from "../primitives/bytes.ts";
import { SOL_MINT } from "../solana/programs.ts";
import type { Venue } from "../venues/venue.ts";
import { createMarkets, type LiveMarkets } from "./markets.ts";
import { type MarketIndex, NO_INDEX } from "./search/market-index.ts";

const token = Address.from(new Uint8Array(32).fill(1));
const POOLS = 1_000;
const MOST_IN_TURN = 64;

let state: FakeState;
let markets: LiveMarkets;
let turn: number;
let counting: NodeJS.Immediate;

beforeEach(() => {
  // Nothing that waits for a turn is late, however slow the machine is.
  vi.useFakeTimers({
    now: 1_000_000,
    toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date", "performance"],
  });
  state = fakeState(Date.now);
  turn = 0;
  counting = setImmediate(function count() {
    turn += 1;
    counting = setImmediate(count);
  });
});
afterEach(() => {
  clearImmediate(counting);
  markets.close();
  vi.useRealTimers();
});

/** The address of a pool, by its number. */
function poolAt(number: number): Address {
  const bytes = new Uint8Array(32).fill(200);
  writeU32(bytes, 0, number);
  return Address.from(bytes);
}

function start(venue: Venue, index: MarketIndex): void {
  for (let number = 0; number < POOLS; number++)
    state.set(poolAt(number), concatBytes(token.bytes, SOL_MINT.bytes), SEARCHED_PROGRAM);
  markets = createMarkets({
    reader: state,
    source: state,
    head: { slotAgeMs: () => 0, clock: () => ({ slot: 1n, epoch: 0n, unixTimestamp: 0n }) },
    venues: [venue],
    index,
    now: Date.now,
    warn: () => {},
    maxMarketsPerPair: POOLS,
  });
}

test("markets of a mint that has a thousand are decoded in many turns of the loop, and all are kept in the index", async () => {
  const decodedIn = new Map<number, number>();
  const kept: number[] = [];
  start(
    {
      ...searchedVenue,
      decode(account, pair) {
        decodedIn.set(turn, (decodedIn.get(turn) ?? 0) + 1);
        return searchedVenue.decode(account, pair);
      },
    },
    { ...NO_INDEX, add: (_key, found) => void kept.push(found.length) },
  );
  const { markets: found } = await markets.marketsOf({ a: SOL_MINT, b: token });
  await nextTurn();
  await backgroundRested();
  expect([found.length, kept]).toEqual([POOLS, [POOLS]]);
  expect([...decodedIn.values()].reduce((sum, count) => sum + count, 0)).toBe(2 * POOLS);
  expect(Math.max(...decodedIn.values())).toBeLessThanOrEqual(MOST_IN_TURN);
});

test("markets that the index knows are told apart without their texts, which take the time", async () => {
  const known = Array.from({ length: POOLS }, (_, number) => ({
    venue: searchedVenue.id,
    address: poolAt(number),
    mints: [token, SOL_MINT] as const,
  }));
  const searched = { venues: [searchedVenue.id], firstAtMs: 1, atMs: 1 };
  start(searchedVenue, { ...NO_INDEX, find: async (keys) => new Map([[keys.at(-1)!, { markets: known, searched }]]) });
  const texts = vi.spyOn(Address.prototype, "toString");
  const { markets: found } = await markets.marketsOf({ a: SOL_MINT, b: token });
  const { length } = texts.mock.calls;
  texts.mockRestore();
  expect(found.length).toBe(POOLS);
  expect(length).toBeLessThan(100);
});
