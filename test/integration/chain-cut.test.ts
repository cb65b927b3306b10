import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { OWN_NODES } from "../../src/chain/landing/sender.ts";
import { createMarkets, type LiveMarkets } from "../../src/market/markets.ts";
import type { PairMarkets } from "../../src/market/port.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { venues } from "../../src/venues/registry.ts";
import { startRpcProxy } from "../slow/faults/rpc-proxy.ts";
import { type CutProxy, startCutProxy } from "../support/cut-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { connectChain, type LiveChain } from "../support/live-chain.ts";
import { type PacedSandbox, startPacedSandbox } from "../support/paced-sandbox.ts";
import { signTransfer } from "../support/transfer.ts";
import { createTestWallet } from "../support/wallet.ts";

const SLOT_MS = 100;
let sandbox: PacedSandbox;
let socket: CutProxy;
let chain: LiveChain;
let markets: LiveMarkets;

beforeAll(async () => {
  sandbox = await startPacedSandbox({ slotMs: SLOT_MS });
});
afterAll(() => sandbox?.close());
beforeEach(async () => {
  socket = await startCutProxy(sandbox.wsUrl);
  chain = await connectChain({ rpcUrls: [sandbox.rpcUrl], wsUrls: [socket.url], now: sandbox.now });
  markets = createMarkets({ ...chain, venues, now: sandbox.now, warn: () => {} });
});
afterEach(async () => {
  markets.close();
  chain.close();
  await socket.close();
});

async function watchedPool() {
  const { mint, market } = sandbox.world.tokens.find(
    ({ venue, quoteMint }) => venue === "raydium_cpmm" && quoteMint === SOL_MINT,
  )!;
  const pair = { a: SOL_MINT, b: mint };
  await markets.marketsOf(pair);
  return {
    /** The slot of the state, from memory. */
    slot: () => (markets.marketsOf(pair) as PairMarkets).markets.find((one) => one.market.address === market)!.slot,
    /** Changes the pool on the chain. */
    async touch() {
      const { accounts } = await chain.reader.fetchAccounts([market]);
      await sandbox.setAccounts([{ ...accounts[0]!, data: accounts[0]!.data, lamports: accounts[0]!.lamports + 1n }]);
    },
  };
}

test("changes made while the connection is cut are seen, and the subscription is restored", async () => {
  const pool = await watchedPool();
  for (let i = 0; i < 3; i++) {
    const before = pool.slot();
    // Two changes in one slot look like one.
    await sandbox.passSlots(1);
    socket.cut();
    await pool.touch();
    const cutAtMs = sandbox.now();
    await eventually(() => expect(pool.slot()).toBeGreaterThan(before));
    await eventually(() => expect(socket.connections()).toBe(i + 2));
    expect(sandbox.now() - cutAtMs).toBeLessThan(4_000);
  }
});

test("while the connection is silent, polling keeps the state fresh; then the connection is replaced", async () => {
  const pool = await watchedPool();
  await sandbox.passSlots(10);
  const before = pool.slot();
  socket.silence(true);
  await pool.touch();
  const silentAtMs = sandbox.now();
  await eventually(() => expect(pool.slot()).toBeGreaterThan(before));
  expect(sandbox.now() - silentAtMs).toBeLessThan(2_000);
  await eventually(() => expect(socket.connections()).toBeGreaterThan(1));
  expect(sandbox.now() - silentAtMs).toBeLessThan(7_000);
  socket.silence(false);
  expect(pool.slot()).toBeGreaterThan(before);
});

test("a node that vanishes with its subscriptions never leaves state two seconds old while another one answers", async () => {
  const { now } = sandbox;
  const nodes = await Promise.all([startRpcProxy(sandbox), startRpcProxy(sandbox)]);
  const urls = { rpcUrls: nodes.map(({ url }) => url), wsUrls: nodes.map(({ wsUrl }) => wsUrl) };
  const doubled = await connectChain({ ...urls, now });
  const own = createMarkets({ ...doubled, venues, now, warn: () => {} });
  try {
    const { mint } = sandbox.world.tokens.find(({ venue }) => venue === "raydium_cpmm")!;
    const pair = { a: SOL_MINT, b: mint };
    const { markets: found } = await own.marketsOf(pair);
    const market = found.find(({ venue }) => venue.id === "raydium_cpmm")!.market.address;
    // By then, a quiet account depends on the stream alone.
    await sandbox.passSlots(30);
    await nodes[0]!.set({ connection: "blackhole" });
    let slot = 0n;
    let touchedAtMs = 0;
    let slowestMs = 0;
    for (const endMs = now() + 7_000; now() < endMs; await sleep(20)) {
      // Throws if the state is too old to build on.
      const { markets: current } = own.marketsOf(pair) as PairMarkets;
      const seen = current.find((one) => one.market.address === market)!.slot;
      if (touchedAtMs > 0 && seen === slot) slowestMs = Math.max(slowestMs, now() - touchedAtMs);
      if (touchedAtMs > 0 && seen === slot) continue;
      slot = seen;
      // Two changes in one slot look like one.
      await sandbox.passSlots(2);
      const { accounts } = await doubled.reader.fetchAccounts([market]);
      touchedAtMs = now();
      await sandbox.setAccounts([{ ...accounts[0]!, data: accounts[0]!.data, lamports: accounts[0]!.lamports + 1n }]);
    }
    expect(slowestMs).toBeLessThan(2_000);
    expect(slot).toBeGreaterThan(0n);
  } finally {
    own.close();
    doubled.close();
    await Promise.all(nodes.map((node) => node.close()));
  }
});

test("no confirmation is missed while the connection is cut repeatedly", async () => {
  const wallet = createTestWallet();
  await chain.pool.read("requestAirdrop", [wallet.address.toString(), 10_000_000_000]);
  await eventually(async () => {
    expect((await chain.reader.fetchAccounts([wallet.address])).accounts[0]).not.toBe(null);
  });
  const cutter = setInterval(socket.cut, 150);
  const { blockhash, lastValidBlockHeight } = chain.head.lifetime();
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, i) => {
      const to = createTestWallet().address;
      const signed = signTransfer({ from: wallet, to, lamports: 10_000_000n + BigInt(i), blockhash });
      return chain.landing.land({
        ...signed,
        lastValidBlockHeight,
        deadlineMs: sandbox.now() + 10_000,
        senders: [OWN_NODES],
      });
    }),
  );
  clearInterval(cutter);
  expect(outcomes.map(({ kind }) => kind)).toEqual(Array(20).fill("landed"));
});
