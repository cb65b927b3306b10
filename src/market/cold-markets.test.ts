import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { backgroundRested } from "../../test/support/background-turns.ts";
import { type FakeState, fakeState } from "../../test/support/fake-state.ts";
import { poolFilter, SEARCHED_PROGRAM, searchedVenue } from "../../test/support/searched-venue.ts";
import { Address } from "../primitives/address.ts";
import { concatBytes, writeU32 } from "../primitives/bytes.ts";
import { SOL_MINT, TOKEN_PROGRAM, USDC_MINT } from "../solana/programs.ts";
import { pumpFun } from "../venues/pump-fun/venue.ts";
import { raydiumLaunchlab } from "../venues/raydium-launchlab/venue.ts";
import type { Venue } from "../venues/venue.ts";
import { createMarkets, type LiveMarkets, type MarketsOptions } from "./markets.ts";
import type { SearchCaller } from "./port.ts";
import type { IndexEntry, IndexedMarket, MarketIndex } from "./search/market-index.ts";

const at = (fill: number) => Address.from(new Uint8Array(32).fill(fill));
const token = at(1);
const pair = { a: SOL_MINT, b: token };

/** An index in memory, as processes on one database share it. */
function memoryIndex(): MarketIndex & { readonly entries: Map<string, IndexEntry>; readonly added: string[] } {
  const entries = new Map<string, IndexEntry>();
  const added: string[] = [];
  return {
    entries,
    added,
    find: async (keys) => new Map([...entries].filter(([key]) => keys.includes(key))),
    add(key, markets, searched) {
      added.push(key);
      const before = entries.get(key);
      const all = new Map<Address, IndexedMarket>(
        [...(before?.markets ?? []), ...markets].map((one) => [one.address, one]),
      );
      const firstAtMs = before?.searched?.firstAtMs ?? searched?.atMs ?? 0;
      const last = searched === undefined ? before?.searched : { ...searched, firstAtMs };
      entries.set(key, { markets: [...all.values()], ...(last === undefined ? {} : { searched: last }) });
    },
    remove(addresses) {
      for (const [key, entry] of entries)
        entries.set(key, { ...entry, markets: entry.markets.filter(({ address }) => !addresses.includes(address)) });
    },
  };
}

let state: FakeState;
let open: LiveMarkets[];
let index: ReturnType<typeof memoryIndex>;

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  state = fakeState(Date.now);
  open = [];
  index = memoryIndex();
});
afterEach(() => {
  for (const one of open) one.close();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

function start(options: Partial<MarketsOptions> = {}): LiveMarkets {
  const markets = createMarkets({
    reader: state,
    source: state,
    head: { slotAgeMs: () => 0, clock: () => ({ slot: 1n, epoch: 0n, unixTimestamp: 0n }) },
    venues: [searchedVenue],
    index,
    now: Date.now,
    warn: () => {},
    ...options,
  });
  open.push(markets);
  return markets;
}

const putPool = (address: Address, a: Address, b: Address) =>
  state.set(address, concatBytes(a.bytes, b.bytes), SEARCHED_PROGRAM);
const callerOf = (keyId: string): SearchCaller => ({ peer: "192.0.2.1", principal: { keyId } });
/** Any number of addresses. */
function far(n: number): Address {
  const bytes = new Uint8Array(32).fill(200);
  writeU32(bytes, 0, n);
  return Address.from(bytes);
}
async function marketsOf(markets: LiveMarkets, of = pair, caller?: SearchCaller): Promise<string[]> {
  const { markets: found } = await markets.marketsOf(of, caller);
  return found.map(({ market }) => market.address.toString());
}
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  await backgroundRested();
  await vi.advanceTimersByTimeAsync(1);
}

test("one search serves all pairs of a mint", async () => {
  putPool(at(10), token, SOL_MINT);
  putPool(at(11), token, USDC_MINT);
  const markets = start();
  const found = await Promise.all([marketsOf(markets), marketsOf(markets, { a: token, b: USDC_MINT })]);
  expect(found).toEqual([[at(10).toString()], [at(11).toString()]]);
  expect(state.searches).toBe(1);
  // Each thing written is a commit.
  expect(index.added).toEqual([token.toString()]);
});

test("each search that a cold token takes is sent in a turn of the loop of its own", async () => {
  const sentIn: number[] = [];
  let turn = 0;
  const twoSided = (id: string): Venue => ({
    ...searchedVenue,
    id,
    searchMint: (mint) => [poolFilter(mint.bytes), poolFilter(SOL_MINT.bytes, mint.bytes)],
  });
  const reader: MarketsOptions["reader"] = {
    fetchAccounts: (addresses) => state.fetchAccounts(addresses),
    fetchProgramAccounts(filter) {
      sentIn.push(turn);
      return state.fetchProgramAccounts(filter);
    },
  };
  let isFound = false;
  const markets = start({ reader, venues: [twoSided("raydium_cpmm"), twoSided("raydium_clmm")] });
  void marketsOf(markets).then(() => {
    isFound = true;
  });
  while (!isFound) {
    await nextTurn();
    turn += 1;
  }
  expect(sentIn).toHaveLength(4);
  expect(new Set(sentIn).size).toBe(4);
});

test("venues that derive no address for a pair take no turns of the loop before what others derive is read", async () => {
  const filtered = Array.from({ length: 10 }, (_, n): Venue => ({ ...searchedVenue, id: `filtered ${n}` }));
  const derived = (id: string, fill: number): Venue => {
    const { searchMint: _, ...venue } = searchedVenue;
    return { ...venue, id, search: () => [{ kind: "probe", addresses: [at(fill)] }] };
  };
  const turnsWith = async (venues: readonly Venue[]): Promise<number> => {
    let turns = 0;
    let isRead = false;
    const reader: MarketsOptions["reader"] = {
      fetchProgramAccounts: (filter) => state.fetchProgramAccounts(filter),
      fetchAccounts(addresses) {
        isRead = true;
        return state.fetchAccounts(addresses);
      },
    };
    const markets = start({ reader, venues, index: memoryIndex() });
    const reading = marketsOf(markets);
    for (; !isRead; turns++) await nextTurn();
    await reading;
    return turns;
  };
  const venues = [derived("first", 30), derived("second", 31)];
  expect(await turnsWith([...filtered, ...venues])).toBe(await turnsWith(venues));
});

test.each([pumpFun as Venue, raydiumLaunchlab as Venue])(
  "$id: a cold pair's addresses are derived once",
  async (venue) => {
    const search = vi.fn(venue.search);
    const markets = start({ venues: [{ ...venue, search }, searchedVenue] });
    expect(await marketsOf(markets)).toEqual([]);
    expect(search).toHaveBeenCalledTimes(1);
    expect(state.searches).toBe(1);
  },
);

test("what was found before is read, not searched for: by another process, and after a restart", async () => {
  putPool(at(10), token, SOL_MINT);
  await marketsOf(start());
  expect(state.searches).toBe(1);
  const restarted = start();
  expect(await marketsOf(restarted)).toEqual([at(10).toString()]);
  // Nor is a pair searched for that is known to have no market.
  expect(await marketsOf(restarted, { a: token, b: USDC_MINT })).toEqual([]);
  expect(state.searches).toBe(1);
});

test("that a mint has no market is not believed of an old search: the chain is searched before the answer", async () => {
  const markets = start();
  expect(await marketsOf(markets)).toEqual([]);
  // Nobody asks for it meanwhile, and the pair is dropped.
  await vi.advanceTimersByTimeAsync(180_000);
  putPool(at(10), token, SOL_MINT);
  expect(await marketsOf(markets)).toEqual([at(10).toString()]);
  expect(state.searches).toBe(2);
});

test("a pair that is used for a moment now and then is searched again some day", async () => {
  putPool(at(10), token, SOL_MINT);
  const markets = start();
  await marketsOf(markets);
  putPool(at(11), token, SOL_MINT);
  for (let minute = 0; minute < 8 * 60; minute += 15) {
    await vi.advanceTimersByTimeAsync(15 * 60_000);
    // As a quote and the build after it.
    await marketsOf(markets);
    await vi.advanceTimersByTimeAsync(1_000);
    await marketsOf(markets);
    await settle();
  }
  expect(await marketsOf(markets)).toEqual([at(10), at(11)].map(String));
  expect(state.searches).toBe(2);
});

test("after a restart, a pair that nothing found before can trade is searched at once", async () => {
  putPool(at(10), token, SOL_MINT);
  await marketsOf(start());
  await vi.advanceTimersByTimeAsync(600_000);
  putPool(at(11), token, SOL_MINT);
  const restarted = start();
  expect(await marketsOf(restarted)).toEqual([at(10).toString()]);
  restarted.searchSoon(pair);
  await settle();
  expect(await marketsOf(restarted)).toEqual([at(10), at(11)].map(String));
});

test("a provider that refuses searches serves what others have found", async () => {
  putPool(at(10), token, SOL_MINT);
  await marketsOf(start());
  state.refusing = true;
  expect(await marketsOf(start())).toEqual([at(10).toString()]);
});

test("a market that is gone leaves the index, and so does an account that another program owns now", async () => {
  putPool(at(10), token, SOL_MINT);
  putPool(at(11), token, SOL_MINT);
  putPool(at(12), token, SOL_MINT);
  await marketsOf(start());
  state.set(at(10), undefined);
  state.set(at(11), concatBytes(token.bytes, SOL_MINT.bytes), TOKEN_PROGRAM);
  expect(await marketsOf(start())).toEqual([at(12).toString()]);
  expect(index.entries.get(token.toString())!.markets.map(({ address }) => address)).toEqual([at(12)]);
});

test("a pair in use is searched less and less often, and by one process for all", async () => {
  putPool(at(10), token, SOL_MINT);
  const processes = [start(), start()];
  for (const one of processes) await marketsOf(one);
  for (let minute = 0; minute < 64; minute++) {
    await vi.advanceTimersByTimeAsync(60_001);
    for (const one of processes) {
      one.marketsOf(pair);
      await settle();
    }
  }
  // After 0, 1, 2, 4, 8, 16, 32 and 64 minutes, each once for both.
  expect(state.searches).toBeLessThanOrEqual(8);
  expect(state.searches).toBeGreaterThanOrEqual(6);
});

test("a caller whose budget is used up is refused, and another caller gets the same pair at once", async () => {
  putPool(at(10), token, SOL_MINT);
  const budget = { perKey: 1, perAddress: 0, perSecond: 0, burstSeconds: 1, atOnce: 8, waitMs: 500 };
  const markets = start({ searchBudget: budget });
  const other = { a: SOL_MINT, b: at(2) };
  await markets.marketsOf(other, callerOf("greedy"));
  await expect(markets.marketsOf(pair, callerOf("greedy"))).rejects.toMatchObject({ code: "RATE_LIMIT_EXCEEDED" });
  const { markets: found } = await markets.marketsOf(pair, callerOf("modest"));
  expect(found.length).toBe(1);
  // What is in memory costs nobody anything.
  expect(markets.marketsOf(pair, callerOf("greedy"))).not.toBeInstanceOf(Promise);
});

test("a caller that asks twice for a pair has one turn, and a refusal without a waiter harms nothing", async () => {
  putPool(at(10), token, SOL_MINT);
  const budget = { perKey: 1, perAddress: 0, perSecond: 0, burstSeconds: 1, atOnce: 8, waitMs: 500 };
  const markets = start({ searchBudget: budget });
  const greedy = callerOf("greedy");
  // As builds do: a look into memory, whose promise is dropped, then the read.
  expect(markets.marketsOf({ a: SOL_MINT, b: at(2) }, greedy)).toBe(
    markets.marketsOf({ a: SOL_MINT, b: at(2) }, greedy),
  );
  await settle();
  const dropped = markets.marketsOf(pair, greedy);
  expect(dropped).toBeInstanceOf(Promise);
  // vitest fails a run in which a rejection stays unhandled.
  await settle();
  expect(markets.marketsOf(pair, callerOf("modest"))).not.toBe(dropped);
  await settle();
});

test("what the index knows takes nothing from a caller's budget", async () => {
  const tokens = Array.from({ length: 50 }, (_, i) => at(100 + i));
  for (const [i, mint] of tokens.entries()) putPool(at(30 + i), mint, SOL_MINT);
  const before = start({
    searchBudget: { perKey: 0, perAddress: 0, perSecond: 0, burstSeconds: 1, atOnce: 8, waitMs: 500 },
  });
  await Promise.all(tokens.map((b) => before.marketsOf({ a: SOL_MINT, b })));
  const searches = state.searches;
  const after = start({
    searchBudget: { perKey: 1, perAddress: 1, perSecond: 1, burstSeconds: 1, atOnce: 1, waitMs: 500 },
  });
  await Promise.all(tokens.map((b) => after.marketsOf({ a: SOL_MINT, b }, callerOf("one"))));
  expect(state.searches).toBe(searches);
});

test("a pair without a market is looked at in one call, and searched less and less often", async () => {
  const markets = start();
  for (let second = 0; second < 600; second += 6) {
    expect(await marketsOf(markets)).toEqual([]);
    await vi.advanceTimersByTimeAsync(6_000);
  }
  expect(state.searches).toBeLessThanOrEqual(14);
});

test("a mint that does not exist is not followed and not searched for", async () => {
  const markets = start();
  const fetches = state.fetches;
  expect(await markets.mint(at(77), callerOf("one"))).toBe(null);
  expect(await markets.mint(at(77), callerOf("one"))).toBe(null);
  expect([state.fetches - fetches, state.searches, state.followed.size]).toEqual([1, 0, 0]);
});

test("a flood of unknown and of cold mints by one key stays within the budget, and others get their cold pairs", async () => {
  const unknown = Array.from({ length: 300 }, (_, i) => far(1_000 + i));
  const cold = Array.from({ length: 300 }, (_, i) => far(i));
  const mine = Array.from({ length: 10 }, (_, i) => far(500 + i));
  for (const [i, mint] of [...cold, ...mine].entries()) putPool(far(5_000 + i), mint, SOL_MINT);
  const budget = { perKey: 2, perAddress: 4, perSecond: 10, burstSeconds: 5, atOnce: 4, waitMs: 2_000 };
  const markets = start({ searchBudget: budget });
  const greedy = callerOf("greedy");
  const modest = { peer: "192.0.2.2", principal: { keyId: "modest" } };
  const before = state.fetches;
  expect(await Promise.all(unknown.map((mint) => markets.mint(mint, greedy)))).toEqual(unknown.map(() => null));
  expect(state.fetches - before).toBe(3);
  expect(state.followed.size).toBe(0);
  const codes = cold.map(async (b) => {
    try {
      await markets.marketsOf({ a: SOL_MINT, b }, greedy);
      return "answered";
    } catch (error) {
      return (error as { code: string }).code;
    }
  });
  const others = Promise.all(mine.map((b) => marketsOf(markets, { a: SOL_MINT, b }, modest)));
  for (let second = 0; second < 5; second++) {
    await settle();
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect((await others).every((found) => found.length === 1)).toBe(true);
  const counts = new Map<string, number>();
  for (const code of await Promise.all(codes)) counts.set(code, (counts.get(code) ?? 0) + 1);
  // A burst of five seconds' worth, and two a second for as long as a call may wait.
  expect(counts.get("answered")).toBeLessThanOrEqual(14);
  expect(counts.get("answered")! + counts.get("RATE_LIMIT_EXCEEDED")!).toBe(300);
  expect(state.searches).toBeLessThanOrEqual(14 + mine.length);
});

test("a market found by a caller's search and by one in the background at once is one market", async () => {
  const markets = start();
  expect(await marketsOf(markets)).toEqual([]);
  await vi.advanceTimersByTimeAsync(120_000);
  putPool(at(10), token, SOL_MINT);
  const waiting = marketsOf(markets);
  markets.searchSoon(pair);
  await waiting;
  await settle();
  expect(await marketsOf(markets)).toEqual([at(10).toString()]);
});

test("a search that found nothing does not answer the next one, due five seconds later: it was one node's word", async () => {
  const reader: MarketsOptions["reader"] = {
    fetchAccounts: (addresses) => state.fetchAccounts(addresses),
    async fetchProgramAccounts(filter) {
      const found = await state.fetchProgramAccounts(filter);
      await new Promise((resolve) => setTimeout(resolve, 50));
      return found;
    },
  };
  const markets = start({ reader });
  const first = marketsOf(markets);
  await settle();
  await vi.advanceTimersByTimeAsync(100);
  expect(await first).toEqual([]);
  putPool(at(10), token, SOL_MINT);
  let found: readonly string[] = [];
  const askedAtMs = Date.now();
  while (found.length === 0 && Date.now() < askedAtMs + 20_000) {
    const asking = marketsOf(markets);
    await settle();
    await vi.advanceTimersByTimeAsync(100);
    found = await asking;
  }
  expect(found).toEqual([at(10).toString()]);
  expect(Date.now() - askedAtMs).toBeLessThan(6_000);
});
