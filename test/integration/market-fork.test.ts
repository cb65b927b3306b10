import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createMarkets, type LiveMarkets } from "../../src/market/markets.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { venues } from "../../src/venues/registry.ts";
import { eventually } from "../support/eventually.ts";
import { connectChain, type LiveChain } from "../support/live-chain.ts";
import { type PacedSandbox, startPacedSandbox } from "../support/paced-sandbox.ts";

let sandbox: PacedSandbox;
let chain: LiveChain;
let markets: LiveMarkets;

beforeAll(async () => {
  sandbox = await startPacedSandbox({ slotMs: 100 });
  await sandbox.setDelays({ confirmedAfterSlots: 20, finalizedAfterSlots: 32 });
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

test("state of dropped blocks is gone within two slots, every time, and the audit finds no difference", async () => {
  const { mint, market } = sandbox.world.tokens.find(
    ({ venue, quoteMint }) => venue === "raydium_cpmm" && quoteMint === SOL_MINT,
  )!;
  const pair = { a: SOL_MINT, b: mint };
  await markets.marketsOf(pair);
  await eventually(() => expect(chain.source.counts().streamed).toBe(chain.source.counts().accounts));
  const { accounts } = await chain.reader.fetchAccounts([market]);
  const before = accounts[0]!;
  await markets.warm([market]);
  const lamportsOf = () => markets.account(market)?.lamports;
  for (let round = 1n; round <= 5n; round++) {
    await sandbox.setAccounts([{ ...before, data: before.data, lamports: before.lamports + round }]);
    const changedIn = sandbox.slot();
    await eventually(() => expect(lamportsOf()).toBe(before.lamports + round));
    expect(sandbox.slot() - changedIn).toBeLessThanOrEqual(10);
    await sandbox.fork(3);
    const forkedIn = sandbox.slot();
    await eventually(() => expect(lamportsOf()).toBe(before.lamports));
    expect(sandbox.slot() - forkedIn).toBeLessThanOrEqual(2);
    expect((await markets.marketsOf(pair)).markets.length).toBeGreaterThan(0);
  }
  expect(chain.source.counts().forks).toBeGreaterThanOrEqual(5);
  expect(chain.source.counts().auditDifferences).toBe(0);
});
