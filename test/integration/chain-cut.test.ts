import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { OWN_NODES } from "../../src/chain/landing/sender.ts";
import { createMarkets, type LiveMarkets } from "../../src/market/markets.ts";
import type { PairMarkets } from "../../src/market/port.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { venues } from "../../src/venues/registry.ts";
import { startRpcProxy } from "../slow/faults/rpc-proxy.ts";
import { type CutProxy, startCutProxy } from "../support/cut-proxy.ts";
import { connectChain, type LiveChain } from "../support/live-chain.ts";
import { signTransfer } from "../support/transfer.ts";
import { createTestWallet } from "../support/wallet.ts";

let sandbox: Sandbox;
let socket: CutProxy;
let chain: LiveChain;
let markets: LiveMarkets;

beforeAll(async () => {
  sandbox = await startSandbox({ slotMs: 100 });
});
afterAll(() => sandbox?.close());
beforeEach(async () => {
  socket = await startCutProxy(sandbox.wsUrl);
  chain = await connectChain({ rpcUrls: [sandbox.rpcUrl], wsUrls: [socket.url] });
  markets = createMarkets({ ...chain, venues, now: Date.now, warn: () => {} });
});
afterEach(async () => {
  markets.close();
  chain.close();
  await socket.close();
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

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
      await sandbox.setAccounts([{ ...accounts[0]!, lamports: accounts[0]!.lamports + 1n }]);
    },
  };
}

test("changes made while the connection is cut are seen, and the subscription comes back", async () => {
  const pool = await watchedPool();
  for (let i = 0; i < 3; i++) {
    const before = pool.slot();
    socket.cut();
    await pool.touch();
    await vi.waitFor(() => expect(pool.slot()).toBeGreaterThan(before), 2_000);
    await vi.waitFor(() => expect(socket.connections()).toBe(i + 2), 2_000);
  }
});

test("while the connection is silent, polling carries on within the allowed age; then it is replaced", async () => {
  const pool = await watchedPool();
  await pause(1_000);
  const before = pool.slot();
  socket.silence(true);
  await pool.touch();
  await vi.waitFor(() => expect(pool.slot()).toBeGreaterThan(before), 2_000);
  await vi.waitFor(() => expect(socket.connections()).toBeGreaterThan(1), 5_000);
  socket.silence(false);
  expect(pool.slot()).toBeGreaterThan(before);
});

test("a node that is swallowed whole, the one of the subscriptions too, never makes state two seconds old while another is well", async () => {
  const nodes = await Promise.all([startRpcProxy(sandbox), startRpcProxy(sandbox)]);
  const doubled = await connectChain({ rpcUrls: nodes.map(({ url }) => url), wsUrls: nodes.map(({ wsUrl }) => wsUrl) });
  const own = createMarkets({ ...doubled, venues, now: Date.now, warn: () => {} });
  try {
    const { mint } = sandbox.world.tokens.find(({ venue }) => venue === "raydium_cpmm")!;
    const pair = { a: SOL_MINT, b: mint };
    const { markets: found } = await own.marketsOf(pair);
    const market = found.find(({ venue }) => venue.id === "raydium_cpmm")!.market.address;
    // Long enough after the last read for a quiet account to depend on the stream alone.
    await pause(3_000);
    await nodes[0]!.set({ connection: "blackhole" });
    let slot = 0n;
    let touchedAtMs = 0;
    let slowestMs = 0;
    for (const endMs = Date.now() + 7_000; Date.now() < endMs; await pause(20)) {
      // Throws when the state is too old to build on.
      const { markets: now } = own.marketsOf(pair) as PairMarkets;
      const seen = now.find((one) => one.market.address === market)!.slot;
      if (touchedAtMs > 0 && seen === slot) slowestMs = Math.max(slowestMs, Date.now() - touchedAtMs);
      if (touchedAtMs > 0 && seen === slot) continue;
      slot = seen;
      // Changes of one slot are told apart by nothing.
      await pause(150);
      const { accounts } = await doubled.reader.fetchAccounts([market]);
      touchedAtMs = Date.now();
      await sandbox.setAccounts([{ ...accounts[0]!, lamports: accounts[0]!.lamports + 1n }]);
    }
    expect(slowestMs).toBeLessThan(2_000);
    expect(slot).toBeGreaterThan(0n);
  } finally {
    own.close();
    doubled.close();
    await Promise.all(nodes.map((node) => node.close()));
  }
}, 20_000);

test("no confirmation is missed while the connection is cut again and again", async () => {
  const wallet = createTestWallet();
  await chain.pool.read("requestAirdrop", [wallet.address.toString(), 10_000_000_000]);
  await vi.waitFor(async () => {
    expect((await chain.reader.fetchAccounts([wallet.address])).accounts[0]).not.toBe(null);
  }, 3_000);
  const cutter = setInterval(socket.cut, 150);
  const { blockhash, lastValidBlockHeight } = chain.head.lifetime();
  const fates = await Promise.all(
    Array.from({ length: 20 }, (_, i) => {
      const to = createTestWallet().address;
      const signed = signTransfer({ from: wallet, to, lamports: 10_000_000n + BigInt(i), blockhash });
      return chain.landing.land({
        ...signed,
        lastValidBlockHeight,
        deadlineMs: Date.now() + 10_000,
        senders: [OWN_NODES],
      });
    }),
  );
  clearInterval(cutter);
  expect(fates.map(({ kind }) => kind)).toEqual(Array(20).fill("landed"));
});
