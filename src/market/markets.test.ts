import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type FakeState, fakeState } from "../../test/support/fake-state.ts";
import { poolFilter } from "../../test/support/searched-venue.ts";
import { TradewireError } from "../errors/tradewire-error.ts";
import { Address } from "../primitives/address.ts";
import { concatBytes, writeU64 } from "../primitives/bytes.ts";
import { SOL_MINT, SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../solana/programs.ts";
import { programErrors } from "../venues/shared/program-errors.ts";
import type { Market, Venue } from "../venues/venue.ts";
import { createMarkets, type LiveMarkets, type MarketsOptions } from "./markets.ts";
import type { PairMarkets } from "./port.ts";

const address = (fill: number) => Address.from(new Uint8Array(32).fill(fill));
const token = address(1);
const pool = address(10);
const vault = address(11);
const tick = address(12);
const program = address(20);
const pair = { a: SOL_MINT, b: token };

/** A pool's data: its two mints, its vault, and its current tick account (zero bytes: none). */
const poolData = (at: Address | undefined = undefined) =>
  concatBytes(SOL_MINT.bytes, token.bytes, vault.bytes, at?.bytes ?? new Uint8Array(32));

interface FakeMarket extends Market {
  readonly vault: Address;
}

type PlainVenue = Venue<FakeMarket, { readonly vaultData: readonly number[] }>;

interface FakeVenue extends PlainVenue {
  reads: number;
}

/** A venue whose pool names a vault, whose pool and vault together name a tick account. */
function fakeVenue(overrides: Partial<PlainVenue> = {}): FakeVenue {
  const none = new Uint8Array(32);
  const venue: FakeVenue = {
    id: "raydium_cpmm",
    programs: [program],
    supports: { exactOut: true, token2022: true },
    reads: 0,
    search: () => [{ kind: "probe", addresses: [pool] }],
    decode: ({ data, address }) =>
      data.length === 128
        ? {
            venue: "raydium_cpmm",
            address,
            mints: [Address.from(data, 0), Address.from(data, 32)],
            nativeSol: false,
            vault: Address.from(data, 64),
          }
        : undefined,
    needs: (market, have) => {
      if (have.get(market.vault) === undefined) return [market.vault];
      const at = have.get(market.address)!.data.subarray(96, 128);
      if (at.every((byte, i) => byte === none[i])) return [];
      return have.get(Address.from(at)) === undefined ? [Address.from(at)] : [];
    },
    read: (market, have) => {
      venue.reads += 1;
      const account = have.get(market.vault);
      if (account === null || account === undefined) throw new TradewireError("VENUE_DEGRADED", "the vault is missing");
      return { vaultData: [...account.data] };
    },
    quote: () => {
      throw new Error("not asked");
    },
    swap: () => {
      throw new Error("not asked");
    },
    errors: programErrors([]),
    ...overrides,
  };
  return venue;
}

let state: FakeState;
let markets: LiveMarkets;
let slotAgeMs: number;
let warnings: string[];

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  state = fakeState(Date.now);
  slotAgeMs = 0;
  warnings = [];
});
afterEach(() => {
  markets.close();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

function start(venues: readonly Venue[], options: Partial<MarketsOptions> = {}): LiveMarkets {
  markets = createMarkets({
    reader: state,
    source: state,
    head: { slotAgeMs: () => slotAgeMs, clock: () => ({ slot: 1n, epoch: 0n, unixTimestamp: 0n }) },
    venues,
    now: Date.now,
    warn: (message) => warnings.push(message),
    ...options,
  });
  return markets;
}

function seed(at?: Address): void {
  state.set(pool, poolData(at));
  state.set(vault, Uint8Array.of(5));
}

/** The answer, which must not be a promise. */
function warm(): PairMarkets {
  const answer = markets.marketsOf(pair);
  if (answer instanceof Promise) throw new Error("not warm");
  return answer;
}

/** Lets a background search finish: it yields to the event loop, which the fake clock does not control. */
async function backgroundSearch(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  await vi.advanceTimersByTimeAsync(10);
}

const states = ({ markets: found }: PairMarkets) => found.map(({ state: one }) => one);

test("a cold pair is found and read; from then on the answer is synchronous and does no reads", async () => {
  seed();
  start([fakeVenue()]);
  const cold = await markets.marketsOf(pair);
  expect(states(cold)).toEqual([{ vaultData: [5] }]);
  expect(cold.faults).toEqual([]);
  const before = [state.follows, state.fetches];
  expect(warm()).toBe(cold);
  expect(markets.marketsOf({ a: token, b: SOL_MINT })).toBe(cold);
  expect([state.follows, state.fetches]).toEqual(before);
});

test("a change of one account does not look at the pair's other accounts again while they are fresh", async () => {
  seed();
  start([fakeVenue()]);
  await markets.marketsOf(pair);
  warm();
  const looked = vi.spyOn(state, "currentAtMs");
  state.set(vault, Uint8Array.of(6));
  expect(states(warm())).toEqual([{ vaultData: [6] }]);
  expect(looked).not.toHaveBeenCalled();
  state.currentUntilMs = Date.now();
  await vi.advanceTimersByTimeAsync(2_100);
  expect(() => warm()).toThrow("too old to build on");
});

test("a cold pair costs at most three rounds of reads", async () => {
  seed(tick);
  start([fakeVenue()]);
  expect(states(await markets.marketsOf(pair))).toEqual([{ vaultData: [5] }]);
  expect([state.fetches, state.follows]).toEqual([1, 2]);
  expect(state.followed).toEqual(new Set([pool, vault, tick]));
});

test("a market that lacks no account but its own is not read a second time, unless finding it took long", async () => {
  seed();
  const read: string[][] = [];
  const { follow } = state;
  vi.spyOn(state, "follow").mockImplementation((addresses, known) => {
    read.push(addresses.filter((one) => known?.has(one) !== true).map(String));
    return follow(addresses, known);
  });
  start([fakeVenue()]);
  await markets.warm([vault]);
  expect(states(await markets.marketsOf(pair))).toEqual([{ vaultData: [5] }]);
  expect(read).toEqual([[vault.toString()], []]);
  expect(state.followed).toEqual(new Set([vault, pool]));
  markets.close();

  read.length = 0;
  const slow: Venue = { ...fakeVenue(), id: "raydium_clmm", search: () => [poolFilter(token.bytes)] };
  const reader = { ...state, fetchProgramAccounts: () => vi.advanceTimersByTimeAsync(300).then(() => []) };
  start([fakeVenue(), slow], { reader });
  await markets.warm([vault]);
  expect(states(await markets.marketsOf(pair))).toEqual([{ vaultData: [5] }]);
  expect(read).toEqual([[vault.toString()], [pool.toString()]]);
});

test("a market found by a node that lags is read again before it is answered", async () => {
  seed();
  let isCurrent = false;
  vi.spyOn(state, "currentAtMs").mockImplementation((of) => Date.now() - (of === pool && !isCurrent ? 3_000 : 0));
  const { refresh } = state;
  vi.spyOn(state, "refresh").mockImplementation((addresses) => {
    expect(addresses).toEqual([pool]);
    isCurrent = true;
    return refresh(addresses);
  });
  start([fakeVenue()]);
  await markets.warm([vault]);
  expect(states(await markets.marketsOf(pair))).toEqual([{ vaultData: [5] }]);
  expect(isCurrent).toBe(true);
});

test("accounts whose read may wait are read once, by a call that others may share, and kept live", async () => {
  seed();
  start([fakeVenue()]);
  const read = vi.spyOn(state, "fetchAccounts");
  const follow = vi.spyOn(state, "follow");
  await markets.warm([vault, tick], true);
  expect(read).toHaveBeenCalledExactlyOnceWith([vault, tick], undefined, true);
  expect([...(follow.mock.calls[0]?.[1]?.keys() ?? [])]).toEqual([vault, tick]);
  expect(markets.account(vault)?.data).toEqual(Uint8Array.of(5));
  expect(markets.account(tick)).toBeNull();
  state.set(tick, Uint8Array.of(7));
  expect(markets.account(tick)?.data).toEqual(Uint8Array.of(7));
  await markets.warm([vault, tick], true);
  expect(read).toHaveBeenCalledTimes(1);
});

test("a market that needs still more is a fault, not a fourth round", async () => {
  seed();
  let next = 100;
  start([fakeVenue({ needs: () => [address(next++)] })]);
  const { markets: found, faults } = await markets.marketsOf(pair);
  expect(found).toEqual([]);
  expect(faults).toMatchObject([{ venue: "raydium_cpmm", market: pool.toString() }]);
  expect([state.fetches, state.follows]).toEqual([1, 2]);
});

test("callers who ask while it is cold share one discovery", async () => {
  seed();
  start([fakeVenue()]);
  const answers = await Promise.all([markets.marketsOf(pair), markets.marketsOf(pair), markets.marketsOf(pair)]);
  expect(new Set(answers).size).toBe(1);
  expect(state.fetches).toBe(1);
});

test("state is decoded once per change of its accounts", async () => {
  seed();
  const venue = fakeVenue();
  start([venue]);
  await markets.marketsOf(pair);
  for (let i = 0; i < 5; i++) warm();
  expect(venue.reads).toBe(1);
  state.set(vault, Uint8Array.of(6));
  for (let i = 0; i < 5; i++) expect(states(warm())).toEqual([{ vaultData: [6] }]);
  expect(venue.reads).toBe(2);
  expect(warm().markets[0]?.slot).toBe(state.slot);
});

test("a market that moves to accounts not read yet is waited for once", async () => {
  seed();
  start([fakeVenue()]);
  await markets.marketsOf(pair);
  state.set(pool, poolData(tick));
  const moved = markets.marketsOf(pair);
  expect(moved).toBeInstanceOf(Promise);
  expect(states(await moved)).toEqual([{ vaultData: [5] }]);
  expect(states(warm())).toEqual([{ vaultData: [5] }]);
});

test("a venue that throws is a fault beside the markets of the others", async () => {
  seed();
  const broken = (overrides: Partial<PlainVenue>) => fakeVenue({ id: "pump_swap", ...overrides });
  const bad = address(30);
  state.set(bad, poolData());
  const search = () => [{ kind: "probe" as const, addresses: [bad] }];
  const boom = () => {
    throw new Error("boom");
  };
  start([broken({ search: boom }), broken({ search, decode: boom }), broken({ search, needs: boom }), fakeVenue()]);
  const { markets: found, faults } = await markets.marketsOf(pair);
  expect(found.map(({ market }) => market.address)).toEqual([pool]);
  expect(faults.map(({ market, reason }) => [market, reason])).toEqual([
    [undefined, "cannot be read"],
    [bad.toString(), "cannot be read"],
    [bad.toString(), "cannot be read"],
  ]);
});

test("a market whose state cannot be read is a fault until it can", async () => {
  state.set(pool, poolData());
  start([fakeVenue()]);
  expect(await markets.marketsOf(pair)).toMatchObject({ markets: [], faults: [{ reason: "the vault is missing" }] });
  state.set(vault, Uint8Array.of(1));
  expect(states(warm())).toEqual([{ vaultData: [1] }]);
});

test("a closed market is a fault, and forgotten at the next search", async () => {
  seed();
  start([fakeVenue()]);
  await markets.marketsOf(pair);
  state.set(pool, undefined);
  expect(warm()).toMatchObject({ markets: [], faults: [{ reason: "the market was closed" }] });
  await vi.advanceTimersByTimeAsync(60_500);
  warm();
  await backgroundSearch();
  expect(warm()).toMatchObject({ markets: [], faults: [] });
  expect(state.followed.size).toBe(0);
});

test("an account that is not a market of the pair is passed over", async () => {
  state.set(pool, concatBytes(address(8).bytes, token.bytes, vault.bytes, new Uint8Array(32)));
  start([fakeVenue()]);
  expect(await markets.marketsOf(pair)).toMatchObject({ markets: [], faults: [] });
});

test("a market without a derivable address is found by filter; a node that refuses is a fault that says so", async () => {
  state.set(pool, poolData(), program);
  state.set(vault, Uint8Array.of(5));
  start([fakeVenue({ search: () => [{ kind: "filter", program, memcmp: [] }] })]);
  expect(states(await markets.marketsOf(pair))).toEqual([{ vaultData: [5] }]);
  markets.close();
  state.refusing = true;
  start([fakeVenue({ search: () => [{ kind: "filter", program, memcmp: [] }] })]);
  const { faults } = await markets.marketsOf(pair);
  expect(faults).toMatchObject([{ venue: "raydium_cpmm", market: undefined }]);
  expect(faults[0]?.reason).toMatch(/refused/);
});

test("a search that failed is a fault, and made good within seconds", async () => {
  const second = address(40);
  seed();
  state.set(second, poolData(), program);
  const search = () => [{ kind: "filter" as const, program, memcmp: [] }];
  start([fakeVenue(), fakeVenue({ id: "pump_swap", search })]);
  const fetchProgramAccounts = vi.spyOn(state, "fetchProgramAccounts").mockRejectedValueOnce(new Error("cut off"));
  const first = await markets.marketsOf(pair);
  expect(first.markets.length).toBe(1);
  expect(first.faults).toEqual([{ venue: "pump_swap", market: undefined, reason: "cannot be read" }]);
  const report = () => markets.report().map(({ id, markets, lastSearch }) => [id, markets, lastSearch?.ok]);
  expect(report()).toEqual([
    ["raydium_cpmm", 1, true],
    ["pump_swap", 0, false],
  ]);
  await vi.advanceTimersByTimeAsync(5_500);
  warm();
  await backgroundSearch();
  expect(fetchProgramAccounts).toHaveBeenCalledTimes(2);
  expect(warm().markets.length).toBe(2);
  expect(warm().faults).toEqual([]);
  expect(report()).toEqual([
    ["raydium_cpmm", 1, true],
    ["pump_swap", 1, true],
  ]);
});

test("a search that fails in part again and again is repeated less and less soon", async () => {
  seed();
  const search = () => [
    { kind: "probe" as const, addresses: [pool] },
    { kind: "filter" as const, program, memcmp: [] },
  ];
  const fetchProgramAccounts = vi.spyOn(state, "fetchProgramAccounts").mockRejectedValue(new Error("cut off"));
  start([fakeVenue({ search })]);
  await markets.marketsOf(pair);
  const searches: number[] = [];
  for (let second = 1; second <= 120; second++) {
    const { length } = fetchProgramAccounts.mock.calls;
    await vi.advanceTimersByTimeAsync(1_000);
    warm();
    await backgroundSearch();
    if (fetchProgramAccounts.mock.calls.length > length) searches.push(second);
  }
  const pauses = searches.map((second, i) => second - (searches[i - 1] ?? 0));
  expect(pauses.slice(0, 4)).toEqual([5, 10, 20, 40]);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(61);
});

test("no market is believed for five seconds, then looked for again", async () => {
  start([fakeVenue()]);
  expect(await markets.marketsOf(pair)).toMatchObject({ markets: [], faults: [] });
  seed();
  await vi.advanceTimersByTimeAsync(3_000);
  expect(warm().markets).toEqual([]);
  await vi.advanceTimersByTimeAsync(2_500);
  expect(states(await markets.marketsOf(pair))).toEqual([{ vaultData: [5] }]);
});

test("a pair in use is searched again in the background, and new markets appear", async () => {
  seed();
  const second = address(40);
  start([fakeVenue({ search: () => [{ kind: "probe", addresses: [pool, second] }] })]);
  await markets.marketsOf(pair);
  state.set(second, poolData());
  await vi.advanceTimersByTimeAsync(60_500);
  expect(warm().markets.length).toBe(1);
  await backgroundSearch();
  expect(warm().markets.length).toBe(2);
});

test("a pair without a trade is searched again soon, but not more often than once a second", async () => {
  seed();
  const second = address(40);
  start([fakeVenue({ search: () => [{ kind: "probe", addresses: [pool, second] }] })]);
  await markets.marketsOf(pair);
  state.set(second, poolData());
  const { fetches } = state;
  markets.searchSoon(pair);
  expect(state.fetches).toBe(fetches);
  await vi.advanceTimersByTimeAsync(1_000);
  markets.searchSoon(pair);
  markets.searchSoon(pair);
  await backgroundSearch();
  expect(warm().markets.length).toBe(2);
  expect(state.fetches).toBe(fetches + 1);
});

test("a background search that fails changes nothing", async () => {
  seed();
  start([fakeVenue()]);
  await markets.marketsOf(pair);
  await vi.advanceTimersByTimeAsync(60_500);
  state.broken = true;
  warm();
  await backgroundSearch();
  expect(warm().markets.length).toBe(1);
  expect(warnings.length).toBe(1);
});

test("when nothing can be read the pair fails, and the next caller tries again", async () => {
  seed();
  start([fakeVenue()]);
  state.broken = true;
  await expect(markets.marketsOf(pair)).rejects.toThrow("down");
  state.broken = false;
  expect(states(await markets.marketsOf(pair))).toEqual([{ vaultData: [5] }]);
});

test("state older than allowed is refused, whether the slots stand still or the accounts fell behind", async () => {
  seed();
  start([fakeVenue()]);
  await markets.marketsOf(pair);
  const stale = expect.objectContaining({ code: "STATE_STALE", retryable: true });
  slotAgeMs = 2_001;
  expect(() => markets.marketsOf(pair)).toThrowError(stale);
  slotAgeMs = 0;
  state.currentUntilMs = Date.now();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(warm().markets.length).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(() => markets.marketsOf(pair)).toThrowError(stale);
  state.currentUntilMs = undefined;
  expect(warm().markets.length).toBe(1);
});

test("state that turns out to be known less far is looked at again at once", async () => {
  seed();
  start([fakeVenue()]);
  await markets.marketsOf(pair);
  expect(warm().markets.length).toBe(1);
  state.currentUntilMs = Date.now() - 2_001;
  expect(warm().markets.length).toBe(1);
  state.setbacks += 1;
  expect(() => markets.marketsOf(pair)).toThrowError(expect.objectContaining({ code: "STATE_STALE" }));
  state.currentUntilMs = undefined;
  expect(warm().markets.length).toBe(1);
});

test("a silent account is not a stale one", async () => {
  seed();
  start([fakeVenue()]);
  const cold = await markets.marketsOf(pair);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(warm()).toBe(cold);
});

test("pairs without callers cool down, and everything behind them is released", async () => {
  seed();
  start([fakeVenue()], { idleMs: 10_000 });
  await markets.marketsOf(pair);
  await vi.advanceTimersByTimeAsync(9_000);
  warm();
  await vi.advanceTimersByTimeAsync(9_000);
  expect(markets.size()).toEqual({ pairs: 1, accounts: 2 });
  await vi.advanceTimersByTimeAsync(3_000);
  expect(markets.size()).toEqual({ pairs: 0, accounts: 0 });
  expect(state.followed.size).toBe(0);
});

test("above the limit the longest unused pair goes first", async () => {
  seed();
  const other = address(2);
  state.set(address(50), concatBytes(SOL_MINT.bytes, other.bytes, vault.bytes, new Uint8Array(32)));
  start([fakeVenue({ search: () => [{ kind: "probe", addresses: [pool, address(50)] }] })], { maxPairs: 1 });
  await markets.marketsOf(pair);
  await vi.advanceTimersByTimeAsync(1);
  await markets.marketsOf({ a: SOL_MINT, b: other });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(markets.size()).toEqual({ pairs: 1, accounts: 2 });
  expect(state.followed).toEqual(new Set([address(50), vault]));
});

function mintData(decimals: number): Uint8Array {
  const data = new Uint8Array(82);
  writeU64(data, 36, 1_000n);
  data[44] = decimals;
  data[45] = 1;
  return data;
}

test("a mint is read once, decoded once per change, and null if there is none", async () => {
  state.set(token, mintData(6), TOKEN_PROGRAM);
  start([]);
  const cold = await markets.mint(token);
  expect(cold).toMatchObject({ address: token, decimals: 6, supply: 1_000n });
  expect(markets.mint(token)).toBe(cold);
  state.set(token, mintData(9), TOKEN_PROGRAM);
  expect(markets.mint(token)).toMatchObject({ decimals: 9 });
  expect(await markets.mint(address(60))).toBe(null);
  expect(markets.mint(address(60))).toBe(null);
  await vi.advanceTimersByTimeAsync(7_000);
  expect(state.followed).toEqual(new Set([token]));
});

test("while many mints are kept, those asked for once are kept for a minute, others for as long as before", async () => {
  const mints = Array.from({ length: 12 }, (_, i) => address(100 + i));
  for (const mint of mints) state.set(mint, mintData(6), TOKEN_PROGRAM);
  start([], { maxSingles: 100 });
  const ask = (some: readonly Address[]) => Promise.all(some.map((mint) => markets.mint(mint)));
  await ask(mints.slice(0, 10));
  await vi.advanceTimersByTimeAsync(90_000);
  expect(state.followed.size).toBe(10);
  await ask(mints.slice(9));
  await vi.advanceTimersByTimeAsync(2_000);
  // The first nine were asked for once, longer ago; one a second time.
  expect(state.followed).toEqual(new Set(mints.slice(9)));
  await ask(mints.slice(9));
  await vi.advanceTimersByTimeAsync(300_000);
  expect(state.followed).toEqual(new Set(mints.slice(9)));
});

test("a mint that is said to be none stays one for five seconds, in which other nodes are asked", async () => {
  state.set(token, mintData(6), TOKEN_PROGRAM);
  start([]);
  const known = await markets.mint(token);
  for (const gone of [() => state.set(token, undefined), () => state.set(token, mintData(6), SYSTEM_PROGRAM)]) {
    gone();
    expect(markets.mint(token)).toEqual(known);
    await vi.advanceTimersByTimeAsync(4_900);
    expect(markets.mint(token)).toEqual(known);
    await vi.advanceTimersByTimeAsync(200);
    expect(markets.mint(token)).toBe(null);
    state.set(token, mintData(6), TOKEN_PROGRAM);
    expect(markets.mint(token)).toEqual(known);
  }
});

test("an account that is no mint is no mint", async () => {
  state.set(token, Uint8Array.of(1, 2, 3), TOKEN_PROGRAM);
  start([]);
  expect(await markets.mint(token)).toBe(null);
});

test("a wallet's account becomes live by being asked for, and is never waited for", async () => {
  start([]);
  const wallet = address(70);
  state.set(wallet, new Uint8Array());
  expect(markets.account(wallet)).toBeUndefined();
  await vi.advanceTimersByTimeAsync(0);
  expect(markets.account(wallet)?.lamports).toBe(1n);
  state.set(wallet, undefined);
  expect(markets.account(wallet)).toBe(null);
  // Nothing more becomes known of it.
  state.currentUntilMs = Date.now();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(markets.account(wallet)).toBe(null);
  await vi.advanceTimersByTimeAsync(1);
  expect(markets.account(wallet)).toBeUndefined();
  state.currentUntilMs = undefined;
  expect(markets.account(wallet)).toBe(null);
  // What was known of it no longer holds.
  state.currentUntilMs = Date.now() - 2_001;
  state.setbacks += 1;
  expect(markets.account(wallet)).toBeUndefined();
});

test("a wallet's account changes at once, is unknown at once, and comes back", async () => {
  start([]);
  const wallet = address(70);
  state.set(wallet, new Uint8Array());
  await markets.warm([wallet]);
  const first = markets.account(wallet);
  expect(first?.data.length).toBe(0);
  state.set(wallet, new Uint8Array(3));
  expect(markets.account(wallet)?.data.length).toBe(3);
  state.forget(wallet);
  expect(markets.account(wallet)).toBeUndefined();
  state.set(wallet, new Uint8Array(4));
  expect(markets.account(wallet)?.data.length).toBe(4);
});

test("warming waits for the first read; refreshing reads again", async () => {
  start([]);
  const wallet = address(70);
  await markets.warm([wallet]);
  expect(markets.account(wallet)).toBe(null);
  await markets.refresh([wallet]);
  expect(markets.account(wallet)).toBe(null);
  state.broken = true;
  await expect(markets.warm([address(71)])).rejects.toThrow("down");
});

/** A venue found by filter: every trade yields the first byte of the pool's vault. */
function crowdedVenue(): FakeVenue {
  return fakeVenue({
    search: () => [{ kind: "filter", program, memcmp: [] }],
    quote: ({ vaultData }, ask) => {
      const outAmount = BigInt(vaultData[0]!) + 256n * BigInt(vaultData[1] ?? 0);
      if (outAmount === 0n) throw new TradewireError("INSUFFICIENT_LIQUIDITY", "empty");
      const { mode, inMint, outMint, amount } = ask;
      return { mode, inMint, outMint, inAmount: amount, outAmount, priceImpact: 0, fill: undefined };
    },
  });
}

function seedPool(number: number, gives: number): Address {
  const own = new Uint8Array(32).fill(number & 255, 0, 16).fill(number >> 8, 16);
  own[31] = 1;
  const vaultOf = own.slice();
  vaultOf[31] = 2;
  state.set(Address.from(own), concatBytes(SOL_MINT.bytes, token.bytes, vaultOf, new Uint8Array(32)), program);
  state.set(Address.from(vaultOf), Uint8Array.of(gives & 255, gives >> 8));
  return Address.from(own);
}

test("of two thousand pools, most of them dead, the best are kept live, wherever they were found, in three rounds of reads", async () => {
  for (let number = 0; number < 2_000; number++) seedPool(number, number % 100 === 99 ? number : 0);
  const venue = crowdedVenue();
  start([venue], { maxMarketsPerPair: 8 });
  const startedAt = performance.now();
  const { markets: found, faults } = await markets.marketsOf(pair);
  expect(performance.now() - startedAt).toBeLessThan(2_000);
  const gives = states({ markets: found } as PairMarkets).map((one) => {
    const [low, high] = (one as { vaultData: number[] }).vaultData;
    return low! + 256 * high!;
  });
  expect(gives.sort((x, y) => y - x)).toEqual([1_999, 1_899, 1_799, 1_699, 1_599, 1_499, 1_399, 1_299]);
  expect([state.searches, state.fetches]).toEqual([1, 1]);
  expect(state.followed.size).toBe(16);
  expect(faults).toMatchObject([{ venue: "raydium_cpmm", reason: expect.stringMatching(/^1992 of its markets/) }]);
  expect(warm()).toBe(await markets.marketsOf(pair));
});

test("of more pools than one search examines none is lost: the next searches continue with the rest, and say so", async () => {
  for (let number = 0; number < 25; number++) seedPool(number, number + 1);
  start([crowdedVenue()], { maxMarketsPerPair: 2, maxFound: 10 });
  const { faults } = await markets.marketsOf(pair);
  expect(faults.map(({ reason }) => reason)).toContain("15 of 25 markets for this pair are not examined yet");
  for (let search = 0; search < 2; search++) {
    await vi.advanceTimersByTimeAsync(5_500);
    warm();
    await backgroundSearch();
  }
  const gives = states(warm()).map((one) => (one as { vaultData: number[] }).vaultData[0]);
  expect(gives.sort()).toEqual([24, 25]);
  expect(warm().faults.map(({ reason }) => reason)).toEqual([
    "23 of its markets give less than those kept live, or cannot be traded",
  ]);
  // Each was read once: nothing is searched again before its time.
  const { searches, fetches } = state;
  await vi.advanceTimersByTimeAsync(30_000);
  warm();
  await backgroundSearch();
  expect([state.searches, state.fetches]).toEqual([searches, fetches]);
});

test("a crowded pair takes in a better pool when it appears, and lets go of the least", async () => {
  for (let number = 0; number < 10; number++) seedPool(number, number);
  start([crowdedVenue()], { maxMarketsPerPair: 2 });
  await markets.marketsOf(pair);
  const better = seedPool(300, 60);
  const fetches = state.fetches;
  await vi.advanceTimersByTimeAsync(60_500);
  warm();
  await backgroundSearch();
  expect(warm().markets.map(({ market }) => market.address)).toContain(better);
  expect(warm().markets.length).toBe(2);
  expect(state.followed.size).toBe(4);
  // Only the new pool's vault was read: pools passed over are not examined again for a while.
  expect(state.fetches).toBe(fetches + 1);
});

test("the answer lists the venues that were searched; one that failed is a fault instead", async () => {
  seed();
  const search = () => {
    throw new Error("boom");
  };
  start([fakeVenue(), fakeVenue({ id: "pump_swap", search })]);
  expect((await markets.marketsOf(pair)).searched).toEqual(["raydium_cpmm"]);
});

test("a market whose account was in a dropped block is read again before it is traded on", async () => {
  seed();
  start([fakeVenue()]);
  await markets.marketsOf(pair);
  for (const gone of [vault, pool]) {
    state.forget(gone);
    const again = markets.marketsOf(pair);
    expect(again).toBeInstanceOf(Promise);
    expect(states(await again)).toEqual([{ vaultData: [5] }]);
  }
});

test("searches in the background keep their distance, and a hub pair without a market is searched rarely", async () => {
  const pools = [pool, address(40)];
  for (const one of pools) state.set(one, poolData());
  state.set(vault, Uint8Array.of(5));
  start([fakeVenue()], { researchPaceMs: 1_000 });
  const other = { a: token, b: address(3) };
  await markets.marketsOf(pair);
  await markets.marketsOf(other);
  const searches = () => state.fetches;
  expect(searches()).toBe(2);
  for (let second = 0; second < 50; second++) {
    await vi.advanceTimersByTimeAsync(1_000);
    markets.knownMarkets(other);
    warm();
    await backgroundSearch();
  }
  expect(searches()).toBe(2);
  for (let second = 0; second < 20; second++) {
    await vi.advanceTimersByTimeAsync(1_000);
    markets.knownMarkets(other);
    warm();
    await backgroundSearch();
  }
  expect(searches()).toBe(4);
});

test("a market on which our code fails is logged once, whatever fails and however often", async () => {
  seed();
  const venue = fakeVenue();
  start([venue]);
  const [hot] = (await markets.marketsOf(pair)).markets;
  hot!.failed!(new TypeError("no such tick"));
  hot!.failed!(new RangeError("Division by zero"));
  venue.read = () => {
    throw new TypeError("no such bin");
  };
  state.set(vault, Uint8Array.of(6));
  expect(warm().faults).toMatchObject([{ market: pool.toString(), reason: "cannot be read" }]);
  expect(warnings).toEqual([expect.stringMatching(/raydium_cpmm fails on .*: TypeError: no such tick/)]);
});

test("an account that a landed transaction has written is unknown until its state has arrived", async () => {
  start([fakeVenue()]);
  const opened = address(77);
  await markets.warm([opened]);
  expect(markets.account(opened)).toBe(null);
  // The chain has it, and its notice is late.
  state.caughtUp = nextTurn().then(() => {
    state.set(opened, Uint8Array.of(1));
    state.behind.delete(opened);
  });
  markets.noteWritten([opened, address(78)], 200n);
  expect(markets.account(opened)).toBeUndefined();
  await markets.warm([opened]);
  expect(markets.account(opened)?.data).toEqual(Uint8Array.of(1));
});

test("nothing is built on a market's state from before a landed transaction that has written it: who asks waits", async () => {
  seed();
  start([fakeVenue()]);
  await markets.marketsOf(pair);
  state.caughtUp = nextTurn().then(() => {
    state.set(vault, Uint8Array.of(6));
    state.behind.delete(vault);
  });
  markets.noteWritten([vault], 200n);
  expect([markets.knownMarkets(pair), markets.knownMarkets(pair)]).toEqual(["late", "late"]);
  const answers = [markets.marketsOf(pair), markets.marketsOf(pair)];
  expect(answers[0]).toBeInstanceOf(Promise);
  for (const answer of await Promise.all(answers)) expect(states(answer)).toEqual([{ vaultData: [6] }]);
  expect(states(warm())).toEqual([{ vaultData: [6] }]);
});

test("a state that does not arrive after a landed transaction refuses the pair, and says why", async () => {
  seed();
  start([fakeVenue()]);
  await markets.marketsOf(pair);
  markets.noteWritten([vault], 200n);
  await expect(markets.marketsOf(pair)).rejects.toMatchObject({
    code: "STATE_STALE",
    message: expect.stringMatching(/has changed, and no Solana node has reported its new state/),
  });
  // Waited for in vain: those who can do without the pair do not wait for it again.
  expect(markets.knownMarkets(pair)).toBeUndefined();
  const waiting = markets.marketsOf(pair);
  expect(markets.knownMarkets(pair)).toBeUndefined();
  state.behind.clear();
  expect(states(await waiting)).toEqual([{ vaultData: [5] }]);
  expect(states(markets.knownMarkets(pair) as PairMarkets)).toEqual([{ vaultData: [5] }]);
  markets.noteWritten([vault], 201n);
  expect(markets.knownMarkets(pair)).toBeUndefined();
  vi.setSystemTime(Date.now() + 10_000);
  expect(markets.knownMarkets(pair)).toBe("late");
});

test("a pair that is read for the first time waits too if a landed transaction has written one of its accounts", async () => {
  seed();
  start([fakeVenue()]);
  const { promise, resolve } = Promise.withResolvers<void>();
  state.caughtUp = promise;
  markets.noteWritten([vault], 200n);
  const answer = Promise.resolve(markets.marketsOf(pair)).then(states);
  answer.catch(() => {});
  await backgroundSearch();
  state.set(vault, Uint8Array.of(6));
  state.behind.delete(vault);
  resolve();
  expect(await answer).toEqual([{ vaultData: [6] }]);
});
