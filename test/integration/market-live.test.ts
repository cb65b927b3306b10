import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { AccountReader } from "../../src/chain/port.ts";
import { createRpcStateSource } from "../../src/chain/state/rpc-state-source.ts";
import { createMarkets, type LiveMarkets } from "../../src/market/markets.ts";
import type { PairMarkets } from "../../src/market/port.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { awaitSnapshot } from "../../src/trade/quote/snapshot.ts";
import { venues } from "../../src/venues/registry.ts";
import { eventually } from "../support/eventually.ts";
import { connectChain, type LiveChain } from "../support/live-chain.ts";
import { type PacedSandbox, startPacedSandbox } from "../support/paced-sandbox.ts";
import { createTestWallet } from "../support/wallet.ts";

let sandbox: PacedSandbox;
let chain: LiveChain;
let markets: LiveMarkets;

beforeAll(async () => {
  sandbox = await startPacedSandbox({ slotMs: 100 });
});
afterAll(() => sandbox?.close());
beforeEach(async () => {
  chain = await connectChain({ rpcUrls: [sandbox.rpcUrl], wsUrls: [sandbox.wsUrl], now: sandbox.now });
  markets = createMarkets({ ...chain, venues, now: sandbox.now, warn: () => {} });
});
afterEach(() => {
  markets.close();
  chain.close();
});

/** Turns of the event loop without a read in flight after which all reads of a round have been asked for. */
const QUIET_TURNS = 20;

/** Holds the results of reads back until no further read is asked for, and counts these rounds. */
function readInRounds(inner: AccountReader) {
  const cost = { reads: 0, searches: 0, rounds: 0 };
  const held: (() => void)[] = [];
  let inFlight = 0;
  async function hold<T>(read: Promise<T>): Promise<T> {
    inFlight += 1;
    const result = await read.finally(() => {
      inFlight -= 1;
    });
    await new Promise<void>((resolve) => held.push(resolve));
    return result;
  }
  const reader: AccountReader = {
    fetchAccounts(...args) {
      cost.reads += 1;
      return hold(inner.fetchAccounts(...args));
    },
    fetchProgramAccounts(...args) {
      cost.searches += 1;
      return hold(inner.fetchProgramAccounts(...args));
    },
  };
  /** Lets round after round pass until `work` ends. */
  async function run<T>(work: Promise<T>): Promise<T> {
    let ended = false;
    const end = () => {
      ended = true;
    };
    work.then(end, end);
    while (!ended) {
      for (let turn = 0; turn < QUIET_TURNS; turn++) {
        await new Promise((resolve) => setImmediate(resolve));
        if (inFlight > 0) turn = 0;
      }
      if (held.length > 0) cost.rounds += 1;
      for (const release of held.splice(0)) release();
    }
    return work;
  }
  return { reader, cost, run };
}

/** A pool of the world that trades against SOL, and its pair. */
function poolToken() {
  const token = sandbox.world.tokens.find(
    ({ venue, quoteMint }) => venue === "raydium_cpmm" && quoteMint === SOL_MINT,
  )!;
  return { token, pair: { a: SOL_MINT, b: token.mint } };
}

test("every pool of the world is found and read from cold, in at most three rounds", async () => {
  const pools = sandbox.world.tokens.filter(({ venue }) => venue === "raydium_cpmm");
  for (const { mint, quoteMint, market } of pools) {
    const { markets: found } = await markets.marketsOf({ a: quoteMint, b: mint });
    expect(found.map((one) => one.market.address)).toContain(market);
  }
});

test("a cold token costs at most three rounds of reads on every venue: mint, markets and what they need, hubs too", async () => {
  for (const venue of new Set(sandbox.world.tokens.map((token) => token.venue))) {
    const { mint, quoteMint } = sandbox.world.tokens.find((token) => token.venue === venue)!;
    const { reader, cost, run } = readInRounds(chain.reader);
    // Without polling, which would be counted too.
    const source = createRpcStateSource({
      ...chain,
      reader,
      commitment: "processed",
      now: sandbox.now,
      warn: () => {},
      pollMs: 60_000,
    });
    const own = createMarkets({ ...chain, reader, source, venues, now: sandbox.now, warn: () => {} });
    const buy = async () => {
      await Promise.all([own.mint(quoteMint), own.mint(mint)]);
      return awaitSnapshot(own, quoteMint, mint);
    };
    const found = await run(buy());
    expect(found.direct.markets.length).toBeGreaterThan(0);
    expect(cost.rounds).toBeLessThanOrEqual(3);
    // One read of the mints and, for each pair searched, the token's own and those with hubs, one of derived addresses and two of
    // what its markets need.
    expect(cost.reads).toBeLessThanOrEqual(12);
    own.close();
    source.close();
  }
});

test("a warm pair is answered at once, without a call to the node", async () => {
  const { token, pair } = poolToken();
  await markets.marketsOf(pair);
  expect(await markets.mint(token.mint)).toMatchObject({ decimals: token.decimals });
  // The head refreshes itself and would be counted.
  chain.head.close();
  await sandbox.passSlots(12);
  const before = chain.calls();
  for (let i = 0; i < 1_000; i++) {
    expect(markets.marketsOf(pair)).not.toBeInstanceOf(Promise);
    expect(markets.mint(token.mint)).not.toBeInstanceOf(Promise);
  }
  expect(chain.calls()).toBe(before);
});

test("a change on the chain reaches the state within three slots, by subscription", async () => {
  const { pair } = poolToken();
  const cold = await markets.marketsOf(pair);
  const first = cold.markets[0]!;
  await sandbox.passSlots(10);
  const { accounts } = await chain.reader.fetchAccounts([first.market.address]);
  await sandbox.setAccounts([{ ...accounts[0]!, data: accounts[0]!.data, lamports: accounts[0]!.lamports + 1n }]);
  const changedIn = sandbox.slot();
  await eventually(() => {
    const warm = markets.marketsOf(pair) as PairMarkets;
    expect(warm.markets.find(({ market }) => market.address === first.market.address)!.slot).toBeGreaterThan(
      first.slot,
    );
  });
  expect(sandbox.slot() - changedIn).toBeLessThanOrEqual(3);
});

test("a wallet's balance stays live after the first request", async () => {
  const { address } = createTestWallet();
  expect(markets.account(address)).toBeUndefined();
  await markets.warm([address]);
  expect(markets.account(address)).toBe(null);
  await chain.pool.read("requestAirdrop", [address.toString(), 5_000_000_000]);
  await eventually(() => expect(markets.account(address)?.lamports).toBe(5_000_000_000n));
});

test("a stalled chain makes the state stale; builds continue once it moves again", async () => {
  const { pair } = poolToken();
  await markets.marketsOf(pair);
  await sandbox.pause();
  const stale = expect.objectContaining({ code: "STATE_STALE" });
  await eventually(() => expect(() => markets.marketsOf(pair)).toThrowError(stale));
  await sandbox.resume();
  await eventually(() => expect((markets.marketsOf(pair) as PairMarkets).markets.length).toBeGreaterThan(0));
});

test("an unknown pair has neither markets nor faults", async () => {
  const { address } = createTestWallet();
  expect(await markets.marketsOf({ a: SOL_MINT, b: address })).toEqual({
    markets: [],
    faults: [],
    searched: venues.map(({ id }) => id),
    line: {},
    versions: [],
    bounds: expect.anything(),
  });
});
