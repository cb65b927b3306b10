import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Address } from "../../../src/primitives/address.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import { associatedTokenAddress } from "../../../src/solana/pda.ts";
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../src/solana/programs.ts";
import { classifyFailure, parseProgramFailure } from "../../../src/trade/submit/outcome/program-failure.ts";
import { DAMM_V2_PROGRAM } from "../../../src/venues/meteora-damm-v2/layout.ts";
import { meteoraDammV2 } from "../../../src/venues/meteora-damm-v2/venue.ts";
import { checkSandwiches } from "../../conformance/sandwiches.ts";
import { judge, readMarket, runTrades } from "../../conformance/trades.ts";
import { Svm } from "../../support/svm.ts";
import { type Build, buildsOf, tradesOn } from "./support/builds.ts";
import { type NewTradedMint, newTradedMint } from "./support/metadata-mint.ts";
import { createDammV2Pool, limiterFee, marketCapFee, type NewDammV2Pool, timeFee } from "./support/meteora-damm-v2.ts";

const PROGRAM = ".venues/meteora_damm_v2.so";
const present = existsSync(PROGRAM);
if (!present) console.log(`skipped: ${PROGRAM} is absent, so meteora_damm_v2 was not run against its program`);

const TRADES = 220;
/** Swaps traded around on each market. */
const SANDWICHES = 4;
const ONE = 1n << 64n;
const HELD = 10n ** 18n;
const SPL: NewTradedMint = { decimals: 6, supply: HELD };
const TOKEN_2022: NewTradedMint = { decimals: 9, supply: HELD, program: TOKEN_2022_PROGRAM };
const WITH_FEE: NewTradedMint = { ...TOKEN_2022, transferFee: { bps: 137, maximum: 5_000_000n } };

type Shape = Omit<NewDammV2Pool, "mintA" | "mintB">;
interface Case {
  readonly name: string;
  readonly mints: readonly [NewTradedMint, NewTradedMint];
  readonly pool: Shape;
  /** Of bound to use: steps that another's trade may lead to before ours lands are in the bound, and not in the use. */
  readonly mostRatio?: number;
}

const flat = timeFee(2_500_000n, 0, 0n, 0n, false);
const plain: Shape = {
  baseFee: flat,
  sqrtPrice: ONE,
  liquidity: (10n ** 13n) << 64n,
  countsSeconds: true,
  collectFeeMode: 0,
};

const cases: readonly Case[] = [
  { name: "flat fee on output", mints: [SPL, SPL], pool: plain },
  {
    name: "flat fee on token B, volatility",
    mints: [SPL, TOKEN_2022],
    pool: { ...plain, collectFeeMode: 1, volatility: true },
  },
  {
    name: "narrow range, counting slots, transfer fee on A",
    mints: [WITH_FEE, SPL],
    pool: { ...plain, minSqrtPrice: (ONE * 9n) / 10n, maxSqrtPrice: (ONE * 11n) / 10n, countsSeconds: false },
  },
  {
    name: "transfer fees on both, fee on token B",
    mints: [WITH_FEE, { ...WITH_FEE, transferFee: { bps: 25, maximum: 10n ** 15n } }],
    pool: { ...plain, collectFeeMode: 1, sqrtPrice: ONE * 37n },
  },
  {
    name: "linear time schedule, volatility",
    mints: [SPL, SPL],
    pool: { ...plain, baseFee: timeFee(500_000_000n, 100, 60n, 4_900_000n, false), volatility: true },
  },
  {
    name: "exponential time schedule",
    mints: [TOKEN_2022, SPL],
    pool: { ...plain, baseFee: timeFee(900_000_000n, 120, 30n, 250n, true), collectFeeMode: 1 },
  },
  {
    name: "rate limiter",
    mints: [SPL, SPL],
    pool: { ...plain, baseFee: limiterFee(10_000_000n, 100, 40_000, 5_000, 1_000_000_000n), collectFeeMode: 1 },
  },
  {
    name: "linear market-cap schedule",
    mints: [SPL, SPL],
    pool: { ...plain, baseFee: marketCapFee(300_000_000n, 50, 100, 86_400, 5_000_000n, false), collectFeeMode: 1 },
  },
  {
    name: "exponential market-cap schedule, volatility",
    mints: [SPL, TOKEN_2022],
    pool: { ...plain, baseFee: marketCapFee(400_000_000n, 80, 50, 86_400, 300n, true), volatility: true },
    mostRatio: 1.38,
  },
  {
    name: "metadata on both mints, transfer fee on B",
    mints: [
      { ...TOKEN_2022, metadata: true },
      { ...WITH_FEE, metadata: true },
    ],
    pool: plain,
  },
  {
    name: "compounding",
    mints: [SPL, SPL],
    pool: { ...plain, collectFeeMode: 2, compoundingBps: 5000 },
  },
];

/** The first copy of the build that keeps a layout version. */
const NEWER = ".venues/builds/meteora_damm_v2/20260301";
const BUILDS = buildsOf("meteora_damm_v2");

/** A pool of the program's own making, and the wallet that made it. */
function open(shape: Shape, kinds: readonly [NewTradedMint, NewTradedMint]) {
  const svm = new Svm();
  svm.addProgram(DAMM_V2_PROGRAM, PROGRAM);
  const wallet = svm.newWallet();
  const [mintA, mintB] = kinds.map((kind) => newTradedMint(svm, kind)) as [Address, Address];
  const fund = () => {
    for (const mint of [mintA, mintB]) svm.setTokens(wallet, mint, HELD);
  };
  fund();
  const market = createDammV2Pool(svm, wallet, { ...shape, mintA, mintB });
  return { svm, wallet, mintA, mintB, market, fund };
}

/** Rewrites bytes of the pool account. */
function poke(svm: Svm, address: Address, offset: number, bytes: Uint8Array): void {
  const account = svm.get(address)!;
  account.data.set(bytes, offset);
  svm.setAccount(account);
}

/** Pools that no build since the new layout has touched, as most of mainnet's were. */
const LAYOUT_VERSION = 696;

describe.skipIf(!present)("meteora_damm_v2 on its program", () => {
  const tried = BUILDS.flatMap((build) => cases.map((shape) => ({ ...shape, build, path: build.path })));
  it.each(tried)("($path) $name: quoted is executed", (shape) => tradeOn(shape.build, shape, false));
  it.each(tried)("($path) $name, every trade migrates it", (shape) => tradeOn(shape.build, shape, true));

  function tradeOn(build: Build, { name, mints, pool, mostRatio = 1.3 }: Case, isUnmigrated: boolean): void {
    const isNewer = build.isMain || build.path >= NEWER;
    // Older builds do not know the new layout: their pools are all unmigrated.
    if (!isNewer && !isUnmigrated) return;
    // Compounding came with the new layout.
    if (isUnmigrated && pool.compoundingBps !== undefined) return;
    const count = tradesOn(build, isUnmigrated ? TRADES / 2 : TRADES);
    const random = createRandom(name.length * 7919);
    const { svm, wallet, market, fund } = open(pool, mints);
    svm.addProgram(DAMM_V2_PROGRAM, build.path);
    let { slot, epoch, unixTimestamp } = svm.clock();
    const outcomes = runTrades({
      svm,
      venue: meteoraDammV2,
      market,
      wallet,
      random,
      count,
      limit: () => 10n ** 13n,
      before: () => {
        const seconds = BigInt(random.pick([0, 1, 5, 12, 60, 300]));
        unixTimestamp += seconds;
        slot += seconds * 4n;
        svm.setClock({ slot, epoch, unixTimestamp });
        fund();
        if (isUnmigrated) poke(svm, market, LAYOUT_VERSION, Uint8Array.of(0));
      },
    });
    const { faults, trades, worstUnitRatio, ...figures } = judge(outcomes);
    console.log(`meteora_damm_v2 | ${build.path} ${name} |`, JSON.stringify({ trades, worstUnitRatio, ...figures }));
    expect(faults).toEqual([]);
    expect(trades).toBeGreaterThan(count * 0.8);
    expect(worstUnitRatio).toBeLessThanOrEqual(mostRatio);
    checkSandwiches({ svm, venue: meteoraDammV2, market, random, count: SANDWICHES });
  }

  it("refuses a closed pool with the program's own reason", () => {
    const { svm, wallet, mintA, mintB, market } = open(plain, [SPL, SPL]);
    const ask = { mode: "exactIn", inMint: mintA, outMint: mintB, amount: 1_000_000n, clock: svm.clock() } as const;
    const before = readMarket(svm, meteoraDammV2, market);
    const quote = meteoraDammV2.quote(before.state, ask);
    const terms = {
      wallet,
      source: associatedTokenAddress(wallet, mintA, TOKEN_PROGRAM),
      destination: associatedTokenAddress(wallet, mintB, TOKEN_PROGRAM),
      threshold: 1n,
      salt: 0,
      exists: () => false,
    };
    const leg = meteoraDammV2.swap(before.state, quote, terms);
    const codeNow = () =>
      classifyFailure(parseProgramFailure(svm.simulate(wallet, leg.instructions).logs)!, [meteoraDammV2]);

    poke(svm, market, 481, Uint8Array.of(1));
    expect(() => meteoraDammV2.quote(readMarket(svm, meteoraDammV2, market).state, ask)).toThrow("is disabled");
    expect(codeNow()).toBe("NO_ROUTE");

    poke(svm, market, 481, Uint8Array.of(0));
    poke(svm, market, 472, Uint8Array.of(255, 255, 255, 255, 255, 255));
    expect(() => meteoraDammV2.quote(readMarket(svm, meteoraDammV2, market).state, ask)).toThrow("opens at");
    expect(codeNow()).toBe("NO_ROUTE");

    poke(svm, market, 472, new Uint8Array(8));
    svm.setTokens(wallet, mintA, 10n);
    expect(codeNow()).toBe("INSUFFICIENT_TOKEN_BALANCE");
  });

  it("refuses trades that leave the price range, as the program does", () => {
    const shape = { ...plain, minSqrtPrice: (ONE * 9n) / 10n, maxSqrtPrice: (ONE * 11n) / 10n };
    const { svm, wallet, mintA, mintB, market } = open(shape, [SPL, SPL]);
    const { state } = readMarket(svm, meteoraDammV2, market);
    const ask = { mode: "exactIn", inMint: mintA, outMint: mintB, amount: 10n ** 15n, clock: svm.clock() } as const;
    expect(() => meteoraDammV2.quote(state, ask)).toThrow("does not hold enough");
    const quote = meteoraDammV2.quote(state, { ...ask, amount: 1_000n });
    const leg = meteoraDammV2.swap(
      state,
      { ...quote, inAmount: 10n ** 15n },
      {
        wallet,
        source: associatedTokenAddress(wallet, mintA, TOKEN_PROGRAM),
        destination: associatedTokenAddress(wallet, mintB, TOKEN_PROGRAM),
        threshold: 1n,
        salt: 0,
        exists: () => false,
      },
    );
    const { logs } = svm.simulate(wallet, leg.instructions);
    expect(classifyFailure(parseProgramFailure(logs)!, [meteoraDammV2])).toBe("INSUFFICIENT_LIQUIDITY");
  });

  it("is found by its derived address", () => {
    const { mintA, mintB, market } = open(plain, [SPL, SPL]);
    const [guess] = meteoraDammV2.search({ a: mintA, b: mintB });
    expect(guess).toMatchObject({ kind: "guess" });
    expect(guess?.kind === "guess" && guess.addresses().includes(market)).toBe(true);
  });
});
