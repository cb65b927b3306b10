import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Address } from "../../../src/primitives/address.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { SOL_MINT } from "../../../src/solana/programs.ts";
import { MAX_TICK } from "../../../src/venues/curves/concentrated-liquidity.ts";
import {
  decodeWhirlpoolMarket,
  WHIRLPOOL_PROGRAM,
  whirlpoolArraySpan,
} from "../../../src/venues/orca-whirlpool/layout.ts";
import { whirlpoolSqrtPrice } from "../../../src/venues/orca-whirlpool/tick-price.ts";
import { orcaWhirlpool } from "../../../src/venues/orca-whirlpool/venue.ts";
import type { Venue } from "../../../src/venues/venue.ts";
import { checkSandwiches } from "../../conformance/sandwiches.ts";
import { judge, readMarket, runTrades, type TradeOutcome } from "../../conformance/trades.ts";
import { oftenLean } from "../../support/lean-venue.ts";
import { checkOnSvm } from "../../support/shadow-check.ts";
import { Svm } from "../../support/svm.ts";
import { allBuildsOf, buildsOf, tradesOn } from "./support/builds.ts";
import { loadDumpedAccounts } from "./support/dumped-accounts.ts";
import { type MintMaker, plain2022, sol, spl, taxed } from "./support/mint-makers.ts";
import { type AdaptiveFee, addLiquidity, createWhirlpool, type TestWhirlpool } from "./support/orca-whirlpool.ts";

const PROGRAM = ".venues/orca_whirlpool.so";
const MAINNET_POOL = ".venues/accounts/whirlpool_sol_usdc";
/** When the main build was deployed. */
const MAIN_BUILT = 20241011;
const present = existsSync(PROGRAM);
const dumped = present && existsSync(MAINNET_POOL);
if (!present) console.log(`orca_whirlpool on the real program: skipped, ${PROGRAM} is not there`);
if (!dumped) console.log(`orca_whirlpool on a mainnet pool: skipped, ${MAINNET_POOL} is not there`);

/** Builds that first knew fees that follow volatility, and tick arrays as small as their ticks. */
const ADAPTIVE_SINCE = 20250505;
const DYNAMIC_SINCE = 20250705;
/** As the fee tiers in use have it. */
const VOLATILE: AdaptiveFee = {
  filterPeriod: 30,
  decayPeriod: 600,
  reductionFactor: 5_000,
  controlFactor: 4_000,
  maximumVolatility: 350_000,
  groupSize: 64,
  majorSwapTicks: 64,
};

const POOLS: readonly {
  readonly name: string;
  readonly mints: readonly [MintMaker, MintMaker];
  readonly tickSpacing: number;
  readonly feeRate: number;
  readonly tick: number;
  readonly positions: number;
  readonly adaptive?: AdaptiveFee;
  readonly rewards?: number;
  readonly dynamicArrays?: boolean;
  /** First build (yyyymmdd) that knows what the pool has. */
  readonly since?: number;
}[] = [
  { name: "one tick apart", mints: [spl(6), spl(6)], tickSpacing: 1, feeRate: 100, tick: 7, positions: 30 },
  { name: "SOL at 8 ticks", mints: [sol, spl(6)], tickSpacing: 8, feeRate: 500, tick: -32_000, positions: 30 },
  { name: "SOL at 64 ticks", mints: [sol, spl(5)], tickSpacing: 64, feeRate: 3_000, tick: 50_001, positions: 20 },
  {
    name: "few positions, wide gaps",
    mints: [spl(9), spl(9)],
    tickSpacing: 256,
    feeRate: 20_000,
    tick: -5,
    positions: 2,
  },
  {
    name: "near the highest price",
    mints: [spl(0), spl(9)],
    tickSpacing: 64,
    feeRate: 10_000,
    tick: 400_000,
    positions: 6,
  },
  {
    name: "near the lowest price",
    mints: [spl(9), spl(0)],
    tickSpacing: 128,
    feeRate: 10_000,
    tick: -400_000,
    positions: 6,
  },
  { name: "full range only", mints: [sol, spl(6)], tickSpacing: 32_896, feeRate: 10_000, tick: -100_000, positions: 1 },
  { name: "Token-2022", mints: [sol, plain2022], tickSpacing: 64, feeRate: 3_000, tick: 0, positions: 10 },
  {
    name: "two Token-2022 mints",
    mints: [plain2022, plain2022],
    tickSpacing: 16,
    feeRate: 1_600,
    tick: 900,
    positions: 10,
  },
  {
    name: "1.5 % transfer fee",
    mints: [sol, taxed(150, 1n << 62n)],
    tickSpacing: 64,
    feeRate: 3_000,
    tick: 10_000,
    positions: 10,
  },
  {
    name: "capped transfer fee",
    mints: [spl(6), taxed(500, 12_345n)],
    tickSpacing: 8,
    feeRate: 500,
    tick: -60,
    positions: 10,
  },
  {
    name: "two transfer fees",
    mints: [taxed(1, 1n << 62n), taxed(9_000, 777n)],
    tickSpacing: 128,
    feeRate: 10_000,
    tick: -9_000,
    positions: 8,
  },
  { name: "three rewards", mints: [sol, spl(6)], tickSpacing: 8, feeRate: 500, tick: -900, positions: 30, rewards: 3 },
  {
    name: "dynamic tick arrays",
    mints: [spl(6), spl(6)],
    tickSpacing: 4,
    feeRate: 500,
    tick: 77,
    positions: 30,
    dynamicArrays: true,
    since: DYNAMIC_SINCE,
  },
  {
    name: "fee follows volatility",
    mints: [sol, spl(6)],
    tickSpacing: 64,
    feeRate: 3_000,
    tick: 1_000,
    positions: 20,
    adaptive: VOLATILE,
    since: ADAPTIVE_SINCE,
  },
  {
    name: "fee follows volatility, ticks in groups, dynamic arrays",
    mints: [spl(6), plain2022],
    tickSpacing: 16,
    feeRate: 1_000,
    tick: -5_000,
    positions: 20,
    adaptive: { ...VOLATILE, groupSize: 4, controlFactor: 40_000, filterPeriod: 5, decayPeriod: 50 },
    dynamicArrays: true,
    rewards: 2,
    since: DYNAMIC_SINCE,
  },
  {
    name: "fee follows volatility up to a low bound",
    mints: [spl(9), spl(6)],
    tickSpacing: 64,
    feeRate: 10_000,
    tick: 40,
    positions: 12,
    adaptive: { ...VOLATILE, maximumVolatility: 60_000, reductionFactor: 0 },
    since: ADAPTIVE_SINCE,
  },
  ...[-262_143, -131_071, -18_000, 18_000, 65_535, 131_071, 262_143].map((tick) => ({
    name: `fee follows volatility at tick ${tick}`,
    mints: [spl(6), spl(6)] as const,
    tickSpacing: 8,
    feeRate: 100,
    tick,
    positions: 20,
    adaptive: { ...VOLATILE, groupSize: 8, controlFactor: 9_999 },
    since: ADAPTIVE_SINCE,
  })),
  {
    name: "fee follows volatility in one tick's groups",
    mints: [spl(6), spl(6)],
    tickSpacing: 1,
    feeRate: 100,
    tick: 0,
    positions: 30,
    adaptive: { ...VOLATILE, groupSize: 1, controlFactor: 99_999 },
    since: ADAPTIVE_SINCE,
  },
  // The prices of their ticks take the program the most multiplications.
  ...[32_767, 65_535, 131_071].map((tick) => ({
    name: `many ticks below ${tick}`,
    mints: [spl(6), spl(6)] as const,
    tickSpacing: 1,
    feeRate: 100,
    tick,
    positions: 30,
  })),
];
const TRADES_PER_POOL = 200;
/**
 * Bound to use of compute units, of 19 trades in 20. A trade whose last unit ends just at a tick's price computes no price to end at; its bound has
 * room for one, as prices move before it lands. In trades of two or three units that is two fifths of what they use.
 */
const TIGHT_RATIO = 1.27;
/** Where a fee follows volatility, a swap takes other units once that has decayed. Seconds. */
const LANDS_AFTER = [10, 20, 30, 40, 50, 60];
/** Swaps traded around on each pool. */
const SANDWICHES = 4;

const BUILDS = buildsOf("orca_whirlpool");
const dateOf = (path: string): number => Number(/(\d{8})-/.exec(path)?.[1] ?? MAIN_BUILT);
const NEWEST = allBuildsOf("orca_whirlpool").reduce((a, b) => (dateOf(b.path) > dateOf(a.path) ? b : a), {
  path: PROGRAM,
  isMain: true,
});

describe.skipIf(!present).each(BUILDS)("orca_whirlpool on the real program ($path)", (build) => {
  const all: TradeOutcome[] = [];
  /** Trades that name fewer arrays for being lean. */
  let lean = 0;
  const built = dateOf(build.path);
  const count = tradesOn(build, TRADES_PER_POOL);

  for (const [index, shape] of POOLS.entries()) {
    if (built < (shape.since ?? 0)) continue;
    it(`is exact: ${shape.name}`, () => {
      const svm = newChain(shape.since === undefined ? PROGRAM : NEWEST.path);
      const random = createRandom(index + 1);
      const wallet = svm.newWallet();
      const mints = [shape.mints[0](svm), shape.mints[1](svm)] as const;
      const pool = createWhirlpool(svm, {
        ...shape,
        creator: svm.newWallet(),
        mints,
        sqrtPrice: whirlpoolSqrtPrice(shape.tick),
      });
      const provider = svm.newWallet();
      fund(svm, provider, pool.mints, 1n << 62n);
      spreadLiquidity(svm, provider, pool, shape, random);
      svm.addProgram(WHIRLPOOL_PROGRAM, build.path);
      let { slot, epoch, unixTimestamp } = svm.clock();
      const { venue, leaner } = oftenLean(orcaWhirlpool);
      const outcomes = runTrades({
        svm,
        venue,
        market: pool.address,
        wallet,
        random,
        count,
        ...(shape.adaptive === undefined ? {} : { landsAfter: LANDS_AFTER }),
        limit: (mint) => svm.tokens(pool.vaults[pool.mints[0] === mint ? 0 : 1]) + 1_000n,
        before: () => {
          const seconds = BigInt(random.pick([0, 1, 5, 29, 31, 120, 700, 4_000]));
          unixTimestamp += seconds;
          slot += seconds * 4n;
          svm.setClock({ slot, epoch, unixTimestamp });
          fund(svm, wallet, pool.mints, 1n << 60n);
        },
      });
      const verdict = judge(outcomes);
      expect(verdict.faults).toEqual([]);
      expect(verdict.trades).toBeGreaterThan(count / 5);
      // By the older instruction, small trades are further below the bound where the fee follows volatility.
      expect(verdict.worstUnitRatio).toBeLessThanOrEqual(shape.adaptive === undefined ? 1.3 : 1.34);
      all.push(...outcomes);
      lean += leaner();
      checkSandwiches({ svm, venue: orcaWhirlpool, market: pool.address, random, count: SANDWICHES });
    });
  }

  it.skipIf(!dumped)(`is exact on the mainnet SOL/USDC pool (${MAINNET_POOL})`, () => {
    const { svm, address, mints } = mainnetPool();
    svm.addProgram(WHIRLPOOL_PROGRAM, build.path);
    const wallet = svm.newWallet();
    const outcomes = runTrades({
      svm,
      venue: oftenLean(orcaWhirlpool).venue,
      market: address,
      wallet,
      random: createRandom(77),
      count: tradesOn(build, 800),
      limit: () => 1n << 43n,
      before: () => fund(svm, wallet, mints, 1n << 60n),
    });
    const verdict = judge(outcomes);
    expect(verdict.faults).toEqual([]);
    expect(verdict.trades).toBeGreaterThan(tradesOn(build, 200));
    all.push(...outcomes);
  });

  it("had a tight bound on compute units", () => {
    const verdict = judge(all);
    console.log(`orca_whirlpool: ${JSON.stringify({ ...verdict, faults: verdict.faults.length })}`);
    expect(verdict.trades).toBeGreaterThanOrEqual(build.isMain ? 2_000 : 500);
    expect(verdict.worstUnitRatio).toBeLessThanOrEqual(1.34);
    const made = all.filter(({ executed }) => executed !== undefined);
    const loose = made.filter(({ computeUnits, computeUnitBound }) => computeUnitBound > TIGHT_RATIO * computeUnits);
    expect(loose.length).toBeLessThan(made.length / 20);
    expect(lean).toBeGreaterThan(verdict.trades / 10);
  });

  if (build.isMain)
    it("reads a pool in two rounds", () => {
      const svm = newChain();
      const creator = svm.newWallet();
      const mints = [SOL_MINT, svm.newMint({ decimals: 6 })] as const;
      const pool = createWhirlpool(svm, { creator, mints, tickSpacing: 64, feeRate: 3_000, sqrtPrice: 1n << 64n });
      expect(readMarket(svm, orcaWhirlpool, pool.address).rounds).toBe(2);
    });

  if (build.isMain)
    it("shows to shadow execution which leaner form a program refuses", () => {
      const svm = newChain();
      const [provider, mints] = [
        svm.newWallet(),
        [svm.newMint({ decimals: 6 }), svm.newMint({ decimals: 6 })],
      ] as const;
      const shape = POOLS.find(({ name }) => name === "SOL at 64 ticks")!;
      const sqrtPrice = whirlpoolSqrtPrice(shape.tick);
      const pool = createWhirlpool(svm, { ...shape, creator: provider, mints: [mints[0]!, mints[1]!], sqrtPrice });
      fund(svm, provider, pool.mints, 1n << 62n);
      spreadLiquidity(svm, provider, pool, shape, createRandom(3));
      type Fill = Parameters<typeof orcaWhirlpool.swap>[1]["fill"];
      const check = (refuses: (fill: Fill) => boolean) => {
        const venue: typeof orcaWhirlpool = {
          ...orcaWhirlpool,
          swap(state, quote, terms) {
            const leg = orcaWhirlpool.swap(state, quote, terms);
            if (!refuses(quote.fill)) return leg;
            return {
              ...leg,
              instructions: leg.instructions.map((one) => ({
                ...one,
                accounts: one.accounts,
                data: one.data.toReversed(),
              })),
            };
          },
        };
        const [a, b] = pool.mints;
        return checkOnSvm({ svm, venue: venue as Venue, market: pool.address, pair: { a, b }, turn: 1 });
      };
      const isLean = ({ tickArrays }: Fill) => new Set(tickArrays).size < 2;
      expect(check(() => false)).toMatchObject({ differences: [], leanDifference: undefined, isOlderAlone: false });
      const refused = { differences: [], leanDifference: expect.stringContaining("fails") };
      expect(check(({ isOlder }) => isOlder === true)).toMatchObject({ ...refused, isOlderAlone: true });
      expect(check(isLean)).toMatchObject({ ...refused, isOlderAlone: false });
    });
});

function newChain(program = PROGRAM): Svm {
  const svm = new Svm();
  svm.addProgram(WHIRLPOOL_PROGRAM, program);
  return svm;
}

function mainnetPool(): { svm: Svm; address: Address; mints: readonly [Address, Address] } {
  const svm = newChain();
  loadDumpedAccounts(svm, MAINNET_POOL);
  const address = Address.of("HJPjoWUrhoZzkNfRpHuieeFk9WcZWjwy6PBjZ81ngndJ");
  return { svm, address, mints: decodeWhirlpoolMarket(svm.get(address)!)!.mints };
}

function fund(svm: Svm, wallet: Address, mints: readonly Address[], amount: bigint): void {
  for (const mint of mints) svm.setTokens(wallet, mint, amount);
}

/** One position over everything reachable, then random ones around the price, of very different sizes. */
function spreadLiquidity(
  svm: Svm,
  provider: Address,
  pool: TestWhirlpool,
  { tick, positions, dynamicArrays = false }: (typeof POOLS)[number],
  random: Random,
): void {
  const { tickSpacing } = pool;
  const round = (value: number): number => Math.floor(value / tickSpacing) * tickSpacing;
  const highest = Math.floor(MAX_TICK / tickSpacing) * tickSpacing;
  const clamp = (value: number): number => Math.min(Math.max(round(value), -highest), highest);
  // What one unit of liquidity is worth falls with the distance from price 1, on one side or the other.
  const unit = BigInt(Math.round(1e9 * Math.sqrt(1.0001 ** -Math.abs(tick)) + 1));
  addLiquidity(svm, provider, pool, -highest, highest, unit * 10n, dynamicArrays);
  if (tickSpacing >= 32_768) return;
  const reach = 3 * whirlpoolArraySpan(tickSpacing);
  for (let i = 0; i < positions; i++) {
    const lower = clamp(tick - Number(random.below(BigInt(reach))));
    const upper = clamp(tick + Number(random.below(BigInt(reach))) + tickSpacing);
    if (lower < upper)
      addLiquidity(svm, provider, pool, lower, upper, unit * (1n + random.magnitude(1_000n)), dynamicArrays);
  }
}
