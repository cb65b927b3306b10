import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { TradewireError } from "../../../src/errors/tradewire-error.ts";
import { Address } from "../../../src/primitives/address.ts";
import { writeU64 } from "../../../src/primitives/bytes.ts";
import { minOf } from "../../../src/primitives/integer.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import type { Instruction } from "../../../src/solana/instruction.ts";
import { associatedTokenAddress } from "../../../src/solana/pda.ts";
import { SOL_MINT, TOKEN_PROGRAM, USDC_MINT } from "../../../src/solana/programs.ts";
import { createTokenAccount } from "../../../src/solana/token/token-instructions.ts";
import { classifyFailure, parseProgramFailure } from "../../../src/trade/submit/outcome/program-failure.ts";
import { DBC_PROGRAM } from "../../../src/venues/meteora-dbc/layout.ts";
import { meteoraDbc } from "../../../src/venues/meteora-dbc/venue.ts";
import type { MintPair } from "../../../src/venues/venue.ts";
import { checkSandwiches } from "../../conformance/sandwiches.ts";
import { judge, readMarket, runTrades, type TradeOutcome } from "../../conformance/trades.ts";
import { checkOnSvm } from "../../support/shadow-check.ts";
import { Svm } from "../../support/svm.ts";
import { type Build, buildsOf, tradesOn } from "./support/builds.ts";
import {
  createDbcPool,
  METAPLEX_PROGRAM,
  mostIntoCurve,
  type NewDbcPool,
  stopsAtItsEnd,
} from "./support/meteora-dbc.ts";

const PROGRAM = ".venues/meteora_dbc.so";
const METAPLEX = ".venues/metaplex_token_metadata.so";
const missing = [PROGRAM, METAPLEX].filter((path) => !existsSync(path));
if (missing.length > 0)
  console.log(`skipped: ${missing.join(", ")} absent, so meteora_dbc was not run against its program`);

const TRADES = 300;
/** Swaps traded around on each market. */
const SANDWICHES = 4;
const ONE = 1n << 64n;
const HELD = 10n ** 18n;
/** Of no list of ours. */
const ANY_QUOTE = Address.from(new Uint8Array(32).fill(9));

const flat = { cliff: 10_000_000n, first: 0, second: 0n, third: 0n, mode: 0 };
const plain: NewDbcPool = {
  quoteMint: SOL_MINT,
  baseFee: flat,
  volatility: false,
  collectFeeMode: 0,
  countsSeconds: true,
  token2022: false,
  decimals: 6,
  migrationThreshold: 200_000_000_000n,
  sqrtStartPrice: (ONE * 3n) / 100n,
  curve: [{ sqrtPrice: (ONE * 6n) / 100n, liquidity: (10n ** 13n) << 64n }],
};

/** `count` stretches of uneven liquidity above the start. */
const stretches = (count: number): NewDbcPool["curve"] =>
  Array.from({ length: count }, (_, index) => ({
    sqrtPrice: (ONE * BigInt(3000 + (index + 1) * (index % 3 === 1 ? 300 : 310))) / 100_000n,
    liquidity: (BigInt(3 + ((index * 7) % 11)) * 10n ** 12n) << 64n,
  }));

const cases: readonly (NewDbcPool & { readonly name: string })[] = [
  { ...plain, name: "one stretch, flat fee in quote" },
  { ...plain, name: "sixteen stretches, volatility", curve: stretches(16), volatility: true, countsSeconds: false },
  {
    ...plain,
    name: "five stretches, fee on output, Token-2022",
    curve: stretches(5),
    collectFeeMode: 1,
    token2022: true,
    migrationThreshold: 50_000_000_000n,
  },
  {
    ...plain,
    name: "linear schedule, USDC quote",
    quoteMint: USDC_MINT,
    curve: stretches(8),
    baseFee: { cliff: 500_000_000n, first: 100, second: 60n, third: 4_900_000n, mode: 0 },
    migrationThreshold: 80_000_000_000n,
  },
  {
    ...plain,
    name: "exponential schedule, volatility, Token-2022",
    token2022: true,
    decimals: 9,
    volatility: true,
    curve: stretches(3),
    baseFee: { cliff: 900_000_000n, first: 120, second: 30n, third: 250n, mode: 1 },
    migrationThreshold: 20_000_000_000n,
  },
  {
    ...plain,
    name: "rate limiter, quoted in a token of no list",
    quoteMint: ANY_QUOTE,
    curve: stretches(10),
    baseFee: { cliff: 10_000_000n, first: 100, second: 43_000n, third: 500_000_000n, mode: 2 },
    migrationThreshold: 100_000_000_000n,
  },
  {
    ...plain,
    name: "rate limiter, volatility, one stretch",
    volatility: true,
    baseFee: { cliff: 10_000_000n, first: 50, second: 43_000n, third: 2_000_000_000n, mode: 2 },
  },
  {
    ...plain,
    name: "first swap with least fee",
    eagerFirstSwap: true,
    curve: stretches(2),
    migrationThreshold: 10_000_000_000n,
    baseFee: { cliff: 500_000_000n, first: 100, second: 60n, third: 4_900_000n, mode: 0 },
  },
];

/** A pool of the program's own making, and a wallet with plenty of both tokens. */
function open(shape: NewDbcPool, program = PROGRAM) {
  const svm = new Svm();
  svm.addProgram(DBC_PROGRAM, program);
  svm.addProgram(METAPLEX_PROGRAM, METAPLEX);
  const wallet = svm.newWallet(10n ** 15n);
  if (shape.quoteMint !== SOL_MINT) svm.newMint({ address: shape.quoteMint, decimals: 6, supply: HELD });
  const { address: market, baseMint } = createDbcPool(svm, wallet, shape);
  const coinProgram = svm.get(baseMint)!.owner;
  const coins = associatedTokenAddress(wallet, baseMint, coinProgram);
  const made = svm.send(wallet, [createTokenAccount(coins, wallet, baseMint, coinProgram)]);
  if (!made.ok) throw new Error(made.error);
  const fund = () => {
    const account = svm.get(coins)!;
    writeU64(account.data, 64, 10n ** 17n);
    svm.setAccount(account);
    svm.setTokens(wallet, shape.quoteMint, 10n ** 14n);
  };
  fund();
  return { svm, wallet, market, baseMint, coins, fund, pair: { a: shape.quoteMint, b: baseMint } };
}

const BUILDS = buildsOf("meteora_dbc");

/** Shadow execution finds nothing, and on builds that do not stop at a curve's end the trades that complete it or go beyond at most. */
function expectCheck(svm: Svm, market: Address, pair: MintPair, { path }: Build): void {
  const answer = checkOnSvm({ svm, venue: meteoraDbc, market, pair, turn: 1 });
  const differences = answer.kind === "checked" ? answer.differences : [];
  const most = mostIntoCurve(svm, market, pair);
  const atItsEnd = ["we quote", "the curve takes"].map((words) => `exactIn from ${pair.a}: ${words} ${most} for `);
  const isAtItsEnd = (difference: string) => atItsEnd.some((start) => difference.startsWith(start));
  expect(differences.filter((difference) => stopsAtItsEnd(path) || !isAtItsEnd(difference))).toEqual([]);
}

describe.skipIf(missing.length > 0).each(BUILDS)("meteora_dbc on its program ($path)", (build) => {
  it.each(cases)("$name: quoted is executed", ({ name, ...shape }) => {
    const count = tradesOn(build, TRADES);
    const random = createRandom(name.length * 7919);
    const { svm, wallet, market, baseMint, fund, pair } = open(shape);
    svm.addProgram(DBC_PROGRAM, build.path);
    const fresh = [market, ...readMarket(svm, meteoraDbc, market, pair).market.vaults].map(
      (address) => svm.get(address)!,
    );
    let { slot, epoch, unixTimestamp } = svm.clock();
    const outcomes: TradeOutcome[] = runTrades({
      svm,
      venue: meteoraDbc,
      market,
      pair,
      wallet,
      random,
      count,
      limit: (mint, mode) =>
        mint === baseMint ? 10n ** (mode === "exactIn" ? 12n : 14n) : (shape.migrationThreshold * 3n) / 2n,
      before: () => {
        const seconds = BigInt(random.pick([0, 1, 5, 12, 60, 300]));
        unixTimestamp += seconds;
        slot += seconds * 4n;
        svm.setClock({ slot, epoch, unixTimestamp });
        const { pool, config } = readMarket(svm, meteoraDbc, market, pair).state;
        if (pool.quoteReserve >= config.migrationThreshold) for (const account of fresh) svm.setAccount({ ...account });
        fund();
      },
      shadow: false,
    });
    expectCheck(svm, market, pair, build);
    const { faults, trades, worstUnitRatio, ...figures } = judge(outcomes);
    console.log(`meteora_dbc | ${name} |`, JSON.stringify({ trades, worstUnitRatio, ...figures }));
    expect(faults).toEqual([]);
    expect(trades).toBeGreaterThan(count * 0.6);
    expect(worstUnitRatio).toBeLessThanOrEqual(1.3);
    checkSandwiches({ svm, venue: meteoraDbc, market, pair, random, count: SANDWICHES });
  });
});

describe.skipIf(missing.length > 0).each(BUILDS)("a coin of meteora_dbc just created ($path)", ({ path }) => {
  it.each(["slots", "seconds"])(
    "opens at its creation, by %s, and is quoted by a clock behind that as it then trades",
    (unit) => {
      // The fee falls from half of the trade with every slot or second.
      const baseFee = { cliff: 500_000_000n, first: 100, second: 1n, third: 4_900_000n, mode: 0 };
      const { svm, wallet, market, baseMint, coins, pair } = open(
        { ...plain, baseFee, countsSeconds: unit === "seconds" },
        path,
      );
      const { state } = readMarket(svm, meteoraDbc, market, pair);
      const now = svm.clock();
      expect(state.pool.activationPoint).toBe(unit === "seconds" ? now.unixTimestamp : now.slot);
      const clock = { ...now, slot: now.slot - 3n, unixTimestamp: now.unixTimestamp - 1n };
      const ask = { mode: "exactIn", inMint: SOL_MINT, outMint: baseMint, amount: 10n ** 9n, clock } as const;
      const quote = meteoraDbc.quote(state, ask);
      const source = associatedTokenAddress(wallet, SOL_MINT, TOKEN_PROGRAM);
      const terms = { wallet, source, destination: coins, threshold: 1n, salt: 0, exists: () => false };
      const before = svm.tokens(coins);
      expect(svm.send(wallet, meteoraDbc.swap(state, quote, terms).instructions).ok).toBe(true);
      expect(svm.tokens(coins) - before).toBe(quote.outAmount);
    },
  );
});

describe.skipIf(missing.length > 0)(`meteora_dbc where it does not trade (${PROGRAM})`, () => {
  it("reports a complete curve, and takes exactly the maximum before", () => {
    const { svm, wallet, market, baseMint, coins, pair } = open({
      ...plain,
      curve: stretches(5),
      migrationThreshold: 50_000_000_000n,
    });
    const ask = {
      mode: "exactIn",
      inMint: SOL_MINT,
      outMint: baseMint,
      amount: 10n ** 13n,
      clock: svm.clock(),
    } as const;
    let mostIn = 0n;
    try {
      meteoraDbc.quote(readMarket(svm, meteoraDbc, market, pair).state, ask);
    } catch (error) {
      expect(error).toMatchObject({ code: "INSUFFICIENT_LIQUIDITY" });
      mostIn = BigInt((error as TradewireError).facts.details!.mostIn!);
    }
    const terms = {
      wallet,
      source: associatedTokenAddress(wallet, SOL_MINT, TOKEN_PROGRAM),
      destination: coins,
      threshold: 1n,
      salt: 0,
      exists: () => false,
    };
    const build = (amount: bigint) => {
      const { state } = readMarket(svm, meteoraDbc, market, pair);
      const quote = meteoraDbc.quote(state, { ...ask, amount: minOf(amount, mostIn) });
      return { quote, leg: meteoraDbc.swap(state, { ...quote, inAmount: amount }, terms) };
    };
    const code = (instructions: readonly Instruction[]) =>
      classifyFailure(parseProgramFailure(svm.simulate(wallet, instructions).logs)!, [meteoraDbc]);
    expect(code(build(mostIn + 1n).leg.instructions)).toBe("INSUFFICIENT_LIQUIDITY");

    const last = build(mostIn);
    const before = svm.tokens(coins);
    expect(svm.send(wallet, last.leg.instructions).ok).toBe(true);
    expect(svm.tokens(coins) - before).toBe(last.quote.outAmount);

    expect(() => build(1000n)).toThrow("is complete");
    expect(code(last.leg.instructions)).toBe("NO_ROUTE");
    const pool = svm.get(market)!;
    pool.data[305] = 1;
    svm.setAccount(pool);
    expect(() => build(1000n)).toThrow("has migrated");
  });

  it("is recognised by the vault of what it is quoted in, and searched for by its coin", () => {
    const { svm, market, baseMint, pair } = open(plain);
    expect(meteoraDbc.decode(svm.get(market)!, { a: USDC_MINT, b: baseMint })).toBeUndefined();
    expect(meteoraDbc.decode(svm.get(market)!, { a: SOL_MINT, b: USDC_MINT })).toBeUndefined();
    expect(readMarket(svm, meteoraDbc, market, pair).market.mints).toEqual([baseMint, SOL_MINT]);
    expect(meteoraDbc.search({ a: SOL_MINT, b: baseMint })).toEqual([
      { kind: "filter", program: DBC_PROGRAM, dataSize: 424, memcmp: [{ offset: 136, bytes: baseMint.bytes }] },
    ]);
  });
});
