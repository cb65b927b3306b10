import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Address } from "../../../src/primitives/address.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { TOKEN_PROGRAM } from "../../../src/solana/programs.ts";
import { MAX_TICK } from "../../../src/venues/curves/concentrated-liquidity.ts";
import { CLMM_PROGRAM, clmmArraySpan } from "../../../src/venues/raydium-clmm/layout.ts";
import { clmmSqrtPrice } from "../../../src/venues/raydium-clmm/ticks/tick-price.ts";
import { raydiumClmm } from "../../../src/venues/raydium-clmm/venue.ts";
import { checkSandwiches } from "../../conformance/sandwiches.ts";
import { judge, readMarket, runTrades, type TradeOutcome } from "../../conformance/trades.ts";
import { oftenLean } from "../../support/lean-venue.ts";
import { Svm } from "../../support/svm.ts";
import { buildsOf, tradesOn } from "./support/builds.ts";
import { clmmAsOf2024, isRefusedAsOf2024 } from "./support/clmm-as-of-2024.ts";
import { type MintMaker, plain2022, sol, spl, taxed } from "./support/mint-makers.ts";
import {
  addClmmLiquidity,
  createClmmPool,
  METAPLEX_PROGRAM,
  type TestClmmPool,
  writeClmmConfig,
  writeRewards,
} from "./support/raydium-clmm.ts";

const PROGRAM = ".venues/raydium_clmm.so";
/** Named by the program's instruction that opens positions, and not called. */
const METAPLEX = ".venues/metaplex_token_metadata.so";
const present = existsSync(PROGRAM) && existsSync(METAPLEX);
if (!present) console.log(`raydium_clmm on the real program: skipped, ${PROGRAM} or ${METAPLEX} is not there`);

const POOLS: readonly {
  readonly name: string;
  readonly mints: readonly [MintMaker, MintMaker];
  readonly tickSpacing: number;
  readonly feeRate: number;
  readonly tick: number;
  readonly positions: number;
  readonly rewards?: number;
}[] = [
  { name: "one tick apart", mints: [spl(6), spl(6)], tickSpacing: 1, feeRate: 100, tick: 7, positions: 30 },
  {
    name: "one tick apart, far above the pool's bitmap",
    mints: [sol, spl(6)],
    tickSpacing: 1,
    feeRate: 400,
    tick: 75_000,
    positions: 20,
  },
  {
    name: "at the lower end of the pool's bitmap",
    mints: [sol, spl(6)],
    tickSpacing: 1,
    feeRate: 400,
    tick: -30_700,
    positions: 20,
  },
  { name: "SOL at 10 ticks", mints: [sol, spl(6)], tickSpacing: 10, feeRate: 500, tick: -32_000, positions: 30 },
  { name: "SOL at 60 ticks", mints: [sol, spl(5)], tickSpacing: 60, feeRate: 2_500, tick: 50_001, positions: 20 },
  {
    name: "few positions, wide gaps",
    mints: [spl(9), spl(9)],
    tickSpacing: 120,
    feeRate: 20_000,
    tick: -5,
    positions: 2,
  },
  {
    name: "near the highest price",
    mints: [spl(0), spl(9)],
    tickSpacing: 60,
    feeRate: 10_000,
    tick: 400_000,
    positions: 6,
  },
  {
    name: "near the lowest price",
    mints: [spl(9), spl(0)],
    tickSpacing: 120,
    feeRate: 10_000,
    tick: -400_000,
    positions: 6,
  },
  { name: "Token-2022", mints: [sol, plain2022], tickSpacing: 60, feeRate: 2_500, tick: 0, positions: 10 },
  {
    name: "two Token-2022 mints",
    mints: [plain2022, plain2022],
    tickSpacing: 10,
    feeRate: 1_600,
    tick: 900,
    positions: 10,
  },
  {
    name: "1.5 % transfer fee",
    mints: [sol, taxed(150, 1n << 62n)],
    tickSpacing: 60,
    feeRate: 2_500,
    tick: 10_000,
    positions: 10,
  },
  {
    name: "capped transfer fee",
    mints: [spl(6), taxed(500, 12_345n)],
    tickSpacing: 10,
    feeRate: 500,
    tick: -60,
    positions: 10,
  },
  {
    name: "two transfer fees",
    mints: [taxed(1, 1n << 62n), taxed(9_000, 777n)],
    tickSpacing: 60,
    feeRate: 10_000,
    tick: -9_000,
    positions: 8,
  },
  {
    name: "three rewards",
    mints: [sol, spl(6)],
    tickSpacing: 10,
    feeRate: 500,
    tick: 3_000,
    positions: 20,
    rewards: 3,
  },
  {
    name: "so little between ticks that trades end at one",
    mints: [spl(6), spl(6)],
    tickSpacing: 1,
    feeRate: 100,
    tick: -262_143,
    positions: 30,
  },
];
const TRADES_PER_POOL = 220;
const SANDWICHES = 6;
const LEAN_TRADES = 60;

/** The build of September 2024 panics on pools whose observations have the size of later ones. */
const BUILDS = buildsOf("raydium_clmm");

describe.skipIf(!present).each(BUILDS)("raydium_clmm on the real program ($path)", (build) => {
  const all: TradeOutcome[] = [];
  const count = tradesOn(build, TRADES_PER_POOL);

  for (const [index, shape] of POOLS.entries()) {
    it(`is exact: ${shape.name}`, () => {
      const svm = newChain();
      const random = createRandom(index + 1);
      const wallet = svm.newWallet();
      const { pool } = newPool(svm, shape, random);
      svm.addProgram(CLMM_PROGRAM, build.path);
      const outcomes = runTrades({
        svm,
        venue: clmmAsOf2024,
        market: pool.address,
        wallet,
        random,
        count,
        limit: (mint) => svm.tokens(pool.vaults[pool.mints[0] === mint ? 0 : 1]) + 1_000n,
        before: () => {
          fund(svm, wallet, pool.mints, 1n << 60n);
          const clock = svm.clock();
          svm.setClock({ ...clock, slot: clock.slot + 17n, unixTimestamp: clock.unixTimestamp + 7n });
        },
      });
      const verdict = judge(outcomes);
      expect(verdict.faults).toEqual([]);
      expect(verdict.trades).toBeGreaterThan(count / 5);
      all.push(...outcomes);
    });
  }

  for (const [index, shape] of POOLS.entries()) {
    it(`is exact in its leaner forms: ${shape.name}`, () => {
      const svm = newChain();
      const random = createRandom(300 + index);
      const wallet = svm.newWallet();
      const { pool } = newPool(svm, shape, random);
      svm.addProgram(CLMM_PROGRAM, build.path);
      const { venue, leaner } = oftenLean(clmmAsOf2024);
      const outcomes = runTrades({
        svm,
        venue,
        market: pool.address,
        wallet,
        random,
        count: LEAN_TRADES,
        limit: (mint) => svm.tokens(pool.vaults[pool.mints[0] === mint ? 0 : 1]) + 1_000n,
        before: () => fund(svm, wallet, pool.mints, 1n << 60n),
      });
      const { faults, worstUnitRatio } = judge(outcomes);
      expect(faults).toEqual([]);
      expect(worstUnitRatio).toBeLessThanOrEqual(1.3);
      // Two SPL Token mints are traded by the older instruction too.
      const { mints } = readMarket(svm, raydiumClmm, pool.address).state;
      if (mints.every(({ program }) => program === TOKEN_PROGRAM)) expect(leaner()).toBeGreaterThan(LEAN_TRADES / 3);
    });
  }

  for (const [index, shape] of POOLS.entries()) {
    it(`says what trading around a swap takes: ${shape.name}`, () => {
      const svm = newChain();
      const random = createRandom(200 + index);
      const { pool } = newPool(svm, shape, random);
      svm.addProgram(CLMM_PROGRAM, build.path);
      // With taxes on both sides the program of November 2024 refuses amounts in between, which later ones take.
      const isTaxedTwice = shape.name === "two transfer fees";
      const venue = isTaxedTwice ? raydiumClmm : clmmAsOf2024;
      const refuses = isTaxedTwice ? isRefusedAsOf2024 : undefined;
      const kinds = checkSandwiches({
        svm,
        venue,
        market: pool.address,
        random,
        count: isTaxedTwice ? 4 * SANDWICHES : SANDWICHES,
        refuses,
      });
      console.log(`${shape.name}: ${JSON.stringify(kinds)}`);
    });
  }

  if (build.isMain)
    it("made at least 2,000 trades, with a tight bound on compute units", () => {
      const verdict = judge(all);
      console.log(`raydium_clmm: ${JSON.stringify({ ...verdict, faults: verdict.faults.length })}`);
      expect(verdict.trades).toBeGreaterThanOrEqual(2_000);
      expect(verdict.worstUnitRatio).toBeLessThanOrEqual(1.22);
    });

  if (build.isMain)
    it("finds its pools by derivation and reads one in at most three rounds", () => {
      const svm = newChain();
      const { pool } = newPool(svm, POOLS[1]!, createRandom(5));
      const [guess] = raydiumClmm.search({ a: pool.mints[1], b: pool.mints[0] });
      expect(guess?.kind === "guess" && guess.addresses().includes(pool.address)).toBe(true);
      expect(readMarket(svm, raydiumClmm, pool.address).rounds).toBe(3);
      const covered = newPool(svm, POOLS[4]!, createRandom(6));
      expect(readMarket(svm, raydiumClmm, covered.pool.address).rounds).toBe(2);
    });
});

function newChain(): Svm {
  const svm = new Svm();
  svm.addProgram(CLMM_PROGRAM, PROGRAM);
  svm.addProgram(METAPLEX_PROGRAM, METAPLEX);
  return svm;
}

function newPool(svm: Svm, shape: (typeof POOLS)[number], random: Random): { pool: TestClmmPool } {
  const mints = [shape.mints[0](svm), shape.mints[1](svm)] as const;
  const config = writeClmmConfig(svm, 7, shape.tickSpacing, shape.feeRate);
  const sqrtPrice = clmmSqrtPrice(shape.tick) + 12_345n;
  const pool = createClmmPool(svm, svm.newWallet(), config, shape.tickSpacing, mints, sqrtPrice);
  const provider = svm.newWallet();
  fund(svm, provider, pool.mints, 1n << 62n);
  spreadLiquidity(svm, provider, pool, shape.tick, shape.positions, random);
  writeRewards(svm, pool.address, shape.rewards ?? 0);
  return { pool };
}

function fund(svm: Svm, wallet: Address, mints: readonly Address[], amount: bigint): void {
  for (const mint of mints) svm.setTokens(wallet, mint, amount);
}

/** One position over everything, then random ones around the price, of very different sizes. */
function spreadLiquidity(
  svm: Svm,
  provider: Address,
  pool: TestClmmPool,
  tick: number,
  positions: number,
  random: Random,
): void {
  const { tickSpacing } = pool;
  const round = (value: number): number => Math.floor(value / tickSpacing) * tickSpacing;
  const highest = Math.floor(MAX_TICK / tickSpacing) * tickSpacing;
  const clamp = (value: number): number => Math.min(Math.max(round(value), -highest), highest);
  // What one unit of liquidity is worth falls with the distance from price 1, on one side or the other.
  const unit = BigInt(Math.round(1e9 * Math.sqrt(1.0001 ** -Math.abs(tick)) + 1));
  addClmmLiquidity(svm, provider, pool, -highest, highest, unit * 10n);
  const reach = 4 * clmmArraySpan(tickSpacing);
  for (let i = 0; i < positions; i++) {
    const lower = clamp(tick - Number(random.below(BigInt(reach))));
    const upper = clamp(tick + Number(random.below(BigInt(reach))) + tickSpacing);
    if (lower < upper) addClmmLiquidity(svm, provider, pool, lower, upper, unit * (1n + random.magnitude(1_000n)));
  }
}
