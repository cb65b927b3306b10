import { afterEach, expect, test } from "vitest";
import type { TradeLimits } from "../../src/client/order/limits.ts";
import { readTransaction } from "../../src/client/verify/read-transaction.ts";
import { expectTrade } from "../../src/client/verify/trade-expectation.ts";
import { findProblems } from "../../src/client/verify/verification.ts";
import { createMarkets, type LiveMarkets } from "../../src/market/markets.ts";
import { Address } from "../../src/primitives/address.ts";
import { minimumOut } from "../../src/primitives/slippage.ts";
import { CPMM_PROGRAM, putCpmmConfigs, putCpmmPool } from "../../src/sandbox/world/cpmm.ts";
import { createWorldLedger } from "../../src/sandbox/world/genesis-ledger.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, USDC_MINT } from "../../src/solana/programs.ts";
import { type BuildPorts, buildTrade } from "../../src/trade/build/build-trade.ts";
import type { BuiltTrade, TradeRequest } from "../../src/trade/trade.ts";
import { raydiumCpmm } from "../../src/venues/raydium-cpmm/venue.ts";
import { answerOf } from "../slow/client/honest-builds.ts";
import { type FakeState, fakeState } from "../support/fake-state.ts";
import { memoryPorts } from "../support/memory-ports.ts";
import { executeWire, heldBy } from "../support/split-world.ts";
import { Svm } from "../support/svm.ts";
import { WORLD_CLOCK, worldOnSvm } from "../support/world.ts";

/** Trades of a token whose markets are mostly against a mint that nobody named: found by depth, built, executed, verified. */
const named = (name: string) => Address.from(Uint8Array.from({ length: 32 }, (_, at) => name.charCodeAt(at) || 9));
const TOKEN = named("token");
const QUOTE = named("quote");
const OTHER = named("other");
const MILLION = 1_000_000n;
const SOLS = 1_000_000_000n;

/** A pool: two mints with what it holds of each in base units, and the index of its fees. */
type Pool = readonly [a: Address, aAmount: bigint, b: Address, bAmount: bigint, config?: number];

/** 100,000 tokens against SOL, a thousand times as many against the quote token, which USDC buys in depth. */
const MOSTLY_QUOTE: readonly Pool[] = [
  [SOL_MINT, 100_000n * SOLS, USDC_MINT, 20_000_000n * MILLION],
  [USDC_MINT, 5_000_000n * MILLION, QUOTE, 5_000_000n * MILLION],
  [QUOTE, 2_000_000n * MILLION, TOKEN, 2_000_000n * MILLION],
];

interface HubWorld {
  readonly svm: Svm;
  readonly state: FakeState;
  readonly wallet: Address;
  readonly ports: BuildPorts;
}

let open: LiveMarkets[] = [];
afterEach(() => {
  for (const one of open) one.close();
  open = [];
});

function worldOf(
  pools: readonly Pool[],
  programs: ReadonlyMap<Address, Address> = new Map(),
  hubMints?: readonly Address[],
): HubWorld {
  const svm = new Svm(WORLD_CLOCK);
  svm.addProgram(CPMM_PROGRAM, worldOnSvm(5).world.programs.find(({ id }) => id === CPMM_PROGRAM)!.bytes);
  const ledger = createWorldLedger();
  const owner = named("owner");
  putCpmmConfigs(ledger, owner, owner);
  const mints = new Set(pools.flatMap(([a, , b]) => [a, b]));
  for (const mint of mints)
    if (mint !== SOL_MINT)
      ledger.mint({ mint, program: programs.get(mint) ?? TOKEN_PROGRAM, decimals: 6, name: "T", symbol: "T" });
  for (const [a, aAmount, b, bAmount, config = 0] of pools) {
    const side = (mint: Address, amount: bigint) => ({ mint, decimals: mint === SOL_MINT ? 9 : 6, amount });
    putCpmmPool(ledger, {
      config,
      creator: owner,
      sides: [side(a, aAmount), side(b, bAmount)],
      openTime: 0n,
      epoch: 1_000n,
    });
  }
  const state = fakeState(Date.now);
  for (const account of ledger.accounts()) {
    svm.setAccount(account);
    state.set(account.address, account.data, account.owner);
  }
  const wallet = svm.newWallet(10n ** 15n);
  for (const mint of [TOKEN, OTHER]) if (mints.has(mint)) svm.setTokens(wallet, mint, 10n ** 13n);
  const clock = svm.clock();
  const live = createMarkets({
    ...{ reader: state, source: state, venues: [raydiumCpmm], now: Date.now, warn: () => {}, hubMints },
    head: { slotAgeMs: () => 0, clock: () => clock },
  });
  open.push(live);
  const base = memoryPorts({ mint: TOKEN, clock, wallet, markets: [] });
  const markets = { ...live, account: (address: Address) => svm.get(address), warm: async () => {} };
  return { svm, state, wallet, ports: { ...base, markets, head: { ...base.head, rentExemption: (n) => svm.rent(n) } } };
}

function requestOf({ wallet }: HubWorld, inMint: Address, outMint: Address, amount: bigint): TradeRequest {
  return {
    principal: { accountId: "test", keyId: "test", wallet },
    ...{ inMint, outMint, mode: "exactIn", amount: Number.NaN, amountRaw: `${amount}`, slippage: 0.01 },
    ...{ priority: "fast", maxPriceImpact: undefined, maxPriorityCost: undefined, maxTransactionVersion: 0 },
  };
}

/** Builds, verifies with the library's own limits, executes, and compares. @returns the build, and the mints it passes */
async function trade(world: HubWorld, request: TradeRequest) {
  const built = await buildTrade(world.ports, request);
  expect(problemsOf(world, request, built)).toEqual([]);
  const before = heldBy(world.svm, world.wallet, request.outMint);
  const done = executeWire(world.svm, world.wallet, built.unsignedTransaction);
  expect(done.ok, done.logs.slice(-4).join("\n")).toBe(true);
  if (request.outMint !== SOL_MINT)
    expect(heldBy(world.svm, world.wallet, request.outMint) - before).toBe(built.estimates.outAmount);
  const passed = built.route.filter(({ outMint }) => outMint !== request.outMint).map(({ outMint }) => outMint);
  return { built, passed };
}

/** What the library finds wrong with a build. */
function problemsOf({ wallet }: HubWorld, request: TradeRequest, built: BuiltTrade, limits: TradeLimits = {}) {
  const order = {
    ...{ inputMint: `${request.inMint}`, outputMint: `${request.outMint}`, swapMode: request.mode },
    ...{ amountRaw: request.amountRaw, slippage: request.slippage },
  };
  const decimals = { input: built.inDecimals, output: built.outDecimals };
  const bounds = { decimals, maxPriorityCost: 1, ...limits };
  const expectation = expectTrade(wallet, order, answerOf(built), bounds, "caller");
  return findProblems(readTransaction(built.unsignedTransaction), expectation);
}

test("a token that trades only against an unknown quote token is bought and sold over three markets, at once", async () => {
  const world = worldOf(MOSTLY_QUOTE);
  const bought = await trade(world, requestOf(world, SOL_MINT, TOKEN, SOLS));
  expect(bought.passed).toEqual([USDC_MINT, QUOTE]);
  const sold = await trade(worldOf(MOSTLY_QUOTE), requestOf(world, TOKEN, SOL_MINT, 200n * MILLION));
  expect(sold.passed).toEqual([QUOTE, USDC_MINT]);
});

test("the best route over found hubs is taken from the first call on, and later ones read nothing", async () => {
  const shallow: Pool = [SOL_MINT, 10n * SOLS, TOKEN, 2_000n * MILLION];
  const world = worldOf([...MOSTLY_QUOTE, shallow, [SOL_MINT, 5_000n * SOLS, QUOTE, 1_000_000n * MILLION, 1]]);
  const first = await trade(world, requestOf(world, SOL_MINT, TOKEN, 10n * SOLS));
  expect(first.passed).toContain(QUOTE);
  // 10 SOL are worth 2,000 tokens; half of them would be had for it on the market against SOL alone.
  expect(first.built.estimates.outAmount).toBeGreaterThan(1_950n * MILLION);
  const { fetches, searches, follows } = world.state;
  for (let again = 0; again < 5; again++)
    expect(buildTrade(world.ports, requestOf(world, SOL_MINT, TOKEN, 10n * SOLS))).not.toBeInstanceOf(Promise);
  expect(world.state).toMatchObject({ fetches, searches, follows });
});

test("no trade passes through a mint whose account of the wallet is frozen: anyone may have opened it, and its issuer frozen it", async () => {
  const direct: Pool = [SOL_MINT, 1_000n * SOLS, TOKEN, 150_000n * MILLION];
  const pools = [...MOSTLY_QUOTE, direct];
  const freeze = ({ svm, wallet }: HubWorld) => {
    const account = svm.get(svm.setTokens(wallet, QUOTE, 0n))!;
    const data = account.data.slice();
    data[108] = 2;
    svm.setAccount({ ...account, data });
  };
  const open = worldOf(pools);
  expect((await trade(open, requestOf(open, SOL_MINT, TOKEN, SOLS))).passed).toContain(QUOTE);
  const world = worldOf(pools);
  freeze(world);
  expect((await trade(world, requestOf(world, SOL_MINT, TOKEN, SOLS))).passed).toEqual([]);
  const only = worldOf(MOSTLY_QUOTE);
  freeze(only);
  await expect(buildTrade(only.ports, requestOf(only, SOL_MINT, TOKEN, SOLS))).rejects.toMatchObject({
    code: "NO_ROUTE",
    facts: { details: { tried: expect.stringContaining("is frozen") } },
  });
});

test("two tokens that trade only against the same unknown mint are traded over it", async () => {
  const world = worldOf([
    [QUOTE, 2_000_000n * MILLION, TOKEN, 2_000_000n * MILLION],
    [QUOTE, 2_000_000n * MILLION, OTHER, 1_000_000n * MILLION],
  ]);
  const { passed } = await trade(world, requestOf(world, TOKEN, OTHER, 100n * MILLION));
  expect(passed).toEqual([QUOTE]);
});

test("mints without depth, with fees, or of Token-2022 are no hubs, however many markets they have", async () => {
  const fakes = Array.from({ length: 12 }, (_, at) => named(`fake ${at}`));
  const crowd = fakes.flatMap((fake): Pool[] =>
    // Endless fake coins against next to no tokens, and hardly any SOL for them.
    [0, 1, 2].map((config) => [fake, 10n ** 15n, TOKEN, 1_000n, config] as const),
  );
  const sinks = fakes.map((fake): Pool => [fake, 10n ** 15n, SOL_MINT, SOLS / 100n]);
  const guarded = named("2022");
  const world = worldOf(
    [
      ...MOSTLY_QUOTE,
      [SOL_MINT, 1_000n * SOLS, TOKEN, 200_000n * MILLION],
      ...crowd,
      ...sinks,
      [guarded, 9_000_000n * MILLION, TOKEN, 9_000_000n * MILLION, 3],
      [guarded, 9_000_000n * MILLION, USDC_MINT, 9_000_000n * MILLION],
    ],
    new Map([[guarded, TOKEN_2022_PROGRAM]]),
  );
  const request = requestOf(world, SOL_MINT, TOKEN, SOLS);
  const { built } = await trade(world, request);
  const allowed: readonly Address[] = [TOKEN, USDC_MINT, QUOTE];
  for (const { outMint } of built.route) expect(allowed).toContain(outMint);
  expect(built.estimates.threshold).toBeGreaterThanOrEqual(minimumOut(built.estimates.outAmount, 10_000_000n) - 1n);
  // Of the crowd, no more than four are looked at for one trade.
  expect(open[0]!.size().pairs).toBeLessThan(20);
  expect(world.state.searches).toBeLessThan(60);
});

test("the library signs no route over a mint of Token-2022 that its caller did not list", async () => {
  const taxable = new Map([[QUOTE, TOKEN_2022_PROGRAM]]);
  const pools: readonly Pool[] = [
    [SOL_MINT, 5_000n * SOLS, QUOTE, 1_000_000n * MILLION],
    [QUOTE, 1_000_000n * MILLION, TOKEN, 1_000_000n * MILLION],
  ];
  const world = worldOf(pools, taxable, [SOL_MINT, USDC_MINT, QUOTE]);
  const request = requestOf(world, SOL_MINT, TOKEN, SOLS);
  const built = await buildTrade(world.ports, request);
  expect(built.route.map(({ outMint }) => outMint)).toEqual([QUOTE, TOKEN]);
  expect(problemsOf(world, request, built)).not.toEqual([]);
  expect(problemsOf(world, request, built, { middleMints: [`${QUOTE}`] })).toEqual([]);
  expect(() => problemsOf(world, request, built, { middleMints: [`${USDC_MINT}`] })).toThrow("middleMints");
});

test("the library opens accounts for as many mints between markets as its caller's limit on their rent allows", async () => {
  const world = worldOf(MOSTLY_QUOTE);
  const request = requestOf(world, SOL_MINT, TOKEN, SOLS);
  const built = await buildTrade(world.ports, request);
  // Two, at the most that the network takes for one.
  expect(problemsOf(world, request, built, { maxMiddleRent: 0.00407856 })).toEqual([]);
  expect(problemsOf(world, request, built, { maxMiddleRent: 0.00407855 })).toMatchObject([
    { reason: expect.stringContaining("rent between markets") },
  ]);
});
