import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { AccountReader } from "../../src/chain/port.ts";
import { createRpcStateSource } from "../../src/chain/state/rpc-state-source.ts";
import { createMarkets, type LiveMarkets } from "../../src/market/markets.ts";
import type { PairMarkets } from "../../src/market/port.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { awaitSnapshot } from "../../src/trade/quote/snapshot.ts";
import { venues } from "../../src/venues/registry.ts";
import { connectChain, type LiveChain } from "../support/live-chain.ts";
import { createTestWallet } from "../support/wallet.ts";

let sandbox: Sandbox;
let chain: LiveChain;
let markets: LiveMarkets;

beforeAll(async () => {
  sandbox = await startSandbox({ slotMs: 100 });
});
afterAll(() => sandbox?.close());
beforeEach(async () => {
  chain = await connectChain({ rpcUrls: [sandbox.rpcUrl], wsUrls: [sandbox.wsUrl] });
  markets = createMarkets({ ...chain, venues, now: Date.now, warn: () => {} });
});
afterEach(() => {
  markets.close();
  chain.close();
});

const ROUND_MS = 600;

/** Counts reads, and makes each take so long that the rounds they come in can be told from the time it all takes. */
function slowReads(inner: AccountReader) {
  const cost = { reads: 0, searches: 0 };
  const reader: AccountReader = {
    async fetchAccounts(...args) {
      cost.reads += 1;
      await sleep(ROUND_MS);
      return inner.fetchAccounts(...args);
    },
    async fetchProgramAccounts(...args) {
      cost.searches += 1;
      await sleep(ROUND_MS);
      return inner.fetchProgramAccounts(...args);
    },
  };
  return { reader, cost };
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
    const { reader, cost } = slowReads(chain.reader);
    // Polling would be counted too.
    const source = createRpcStateSource({
      ...chain,
      reader,
      commitment: "processed",
      now: Date.now,
      warn: () => {},
      pollMs: 60_000,
    });
    const own = createMarkets({ ...chain, reader, source, venues, now: Date.now, warn: () => {} });
    const startedAt = performance.now();
    const [found] = await Promise.all([awaitSnapshot(own, quoteMint, mint), own.mint(mint)]);
    expect(found.direct.markets.length).toBeGreaterThan(0);
    expect(Math.floor((performance.now() - startedAt) / ROUND_MS)).toBeLessThanOrEqual(3);
    // For each pair searched, the token's own and those with hubs: one read of probes, and two of what its markets need.
    expect(cost.reads).toBeLessThanOrEqual(12);
    own.close();
    source.close();
  }
});

test("a warm pair is answered at once, without a call to the node", async () => {
  const { token, pair } = poolToken();
  await markets.marketsOf(pair);
  expect(await markets.mint(token.mint)).toMatchObject({ decimals: token.decimals });
  // Apart from the head, which is refreshed by itself.
  chain.head.close();
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  const before = chain.calls();
  for (let i = 0; i < 1_000; i++) {
    expect(markets.marketsOf(pair)).not.toBeInstanceOf(Promise);
    expect(markets.mint(token.mint)).not.toBeInstanceOf(Promise);
  }
  expect(chain.calls()).toBe(before);
});

test("a change on the chain reaches the state within a moment, by subscription", async () => {
  const { pair } = poolToken();
  const cold = await markets.marketsOf(pair);
  const first = cold.markets[0]!;
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const { accounts } = await chain.reader.fetchAccounts([first.market.address]);
  await sandbox.setAccounts([{ ...accounts[0]!, lamports: accounts[0]!.lamports + 1n }]);
  await vi.waitFor(() => {
    const warm = markets.marketsOf(pair) as PairMarkets;
    expect(warm.markets.find(({ market }) => market.address === first.market.address)!.slot).toBeGreaterThan(
      first.slot,
    );
  }, 300);
});

test("a wallet's balance is live once asked for", async () => {
  const { address } = createTestWallet();
  expect(markets.account(address)).toBeUndefined();
  await markets.warm([address]);
  expect(markets.account(address)).toBe(null);
  await chain.pool.read("requestAirdrop", [address.toString(), 5_000_000_000]);
  await vi.waitFor(() => expect(markets.account(address)?.lamports).toBe(5_000_000_000n), 3_000);
});

test("a chain that stands still makes the state stale; when it moves again, builds go on", async () => {
  const { pair } = poolToken();
  await markets.marketsOf(pair);
  await sandbox.pause();
  const stale = expect.objectContaining({ code: "STATE_STALE" });
  await vi.waitFor(() => expect(() => markets.marketsOf(pair)).toThrowError(stale), 4_000);
  await sandbox.resume();
  await vi.waitFor(() => expect((markets.marketsOf(pair) as PairMarkets).markets.length).toBeGreaterThan(0), 8_000);
});

test("an unknown pair has no market and no fault", async () => {
  const { address } = createTestWallet();
  expect(await markets.marketsOf({ a: SOL_MINT, b: address })).toEqual({
    markets: [],
    faults: [],
    searched: venues.map(({ id }) => id),
  });
});
