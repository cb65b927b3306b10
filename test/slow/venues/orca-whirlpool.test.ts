import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Address } from "../../../src/primitives/address.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM } from "../../../src/solana/programs.ts";
import { MAX_TICK } from "../../../src/venues/curves/concentrated-liquidity.ts";
import {
  decodeWhirlpoolMarket,
  WHIRLPOOL_PROGRAM,
  whirlpoolArraySpan,
} from "../../../src/venues/orca-whirlpool/layout.ts";
import { whirlpoolSqrtPrice } from "../../../src/venues/orca-whirlpool/math.ts";
import { orcaWhirlpool } from "../../../src/venues/orca-whirlpool/venue.ts";
import { judge, readMarket, runTrades, type TradeOutcome } from "../../conformance/trades.ts";
import { Svm } from "../../support/svm.ts";
import { loadDumpedAccounts } from "./support/dumped-accounts.ts";
import { addLiquidity, createWhirlpool, type TestWhirlpool } from "./support/orca-whirlpool.ts";

const PROGRAM = ".venues/orca_whirlpool.so";
const MAINNET_POOL = ".venues/accounts/whirlpool_sol_usdc";
const present = existsSync(PROGRAM);
const dumped = present && existsSync(MAINNET_POOL);
if (!present) console.log(`orca_whirlpool on the real program: skipped, ${PROGRAM} is not there`);
if (!dumped) console.log(`orca_whirlpool on a mainnet pool: skipped, ${MAINNET_POOL} is not there`);

type MintMaker = (svm: Svm) => Address;
const spl =
  (decimals: number): MintMaker =>
  (svm) =>
    svm.newMint({ decimals });
const plain2022: MintMaker = (svm) => svm.newMint({ decimals: 6, program: TOKEN_2022_PROGRAM });
const taxed =
  (bps: number, maximum: bigint): MintMaker =>
  (svm) =>
    svm.newMint({ decimals: 9, program: TOKEN_2022_PROGRAM, transferFee: { bps, maximum } });
const sol: MintMaker = () => SOL_MINT;

const POOLS: readonly {
  readonly name: string;
  readonly mints: readonly [MintMaker, MintMaker];
  readonly tickSpacing: number;
  readonly feeRate: number;
  readonly tick: number;
  readonly positions: number;
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
];
const TRADES_PER_POOL = 180;

describe.skipIf(!present)(`orca_whirlpool on the real program (${PROGRAM})`, () => {
  const all: TradeOutcome[] = [];

  for (const [index, shape] of POOLS.entries()) {
    it(`is exact: ${shape.name}`, () => {
      const svm = newChain();
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
      spreadLiquidity(svm, provider, pool, shape.tick, shape.positions, random);
      const outcomes = runTrades({
        svm,
        venue: orcaWhirlpool,
        market: pool.address,
        wallet,
        random,
        count: TRADES_PER_POOL,
        limit: (mint) => svm.tokens(pool.vaults[pool.mints[0] === mint ? 0 : 1]) + 1_000n,
        before: () => fund(svm, wallet, pool.mints, 1n << 60n),
      });
      const verdict = judge(outcomes);
      expect(verdict.faults).toEqual([]);
      expect(verdict.trades).toBeGreaterThan(TRADES_PER_POOL / 5);
      all.push(...outcomes);
    });
  }

  it.skipIf(!dumped)(`is exact on the mainnet SOL/USDC pool (${MAINNET_POOL})`, () => {
    const { svm, address, mints } = mainnetPool();
    const wallet = svm.newWallet();
    const outcomes = runTrades({
      svm,
      venue: orcaWhirlpool,
      market: address,
      wallet,
      random: createRandom(77),
      count: 800,
      limit: () => 1n << 43n,
      before: () => fund(svm, wallet, mints, 1n << 60n),
    });
    const verdict = judge(outcomes);
    expect(verdict.faults).toEqual([]);
    expect(verdict.trades).toBeGreaterThan(200);
    all.push(...outcomes);
  });

  it("made at least 2,000 trades, with a tight bound on compute units", () => {
    const verdict = judge(all);
    console.log(`orca_whirlpool: ${JSON.stringify({ ...verdict, faults: verdict.faults.length })}`);
    expect(verdict.trades).toBeGreaterThanOrEqual(2_000);
    expect(verdict.worstUnitRatio).toBeLessThanOrEqual(1.22);
  });

  it("reads a pool in two rounds", () => {
    const svm = newChain();
    const creator = svm.newWallet();
    const mints = [SOL_MINT, svm.newMint({ decimals: 6 })] as const;
    const pool = createWhirlpool(svm, { creator, mints, tickSpacing: 64, feeRate: 3_000, sqrtPrice: 1n << 64n });
    expect(readMarket(svm, orcaWhirlpool, pool.address).rounds).toBe(2);
  });
});

function newChain(): Svm {
  const svm = new Svm();
  svm.addProgram(WHIRLPOOL_PROGRAM, PROGRAM);
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
  addLiquidity(svm, provider, pool, -highest, highest, unit * 10n);
  if (tickSpacing >= 32_768) return;
  const reach = 3 * whirlpoolArraySpan(tickSpacing);
  for (let i = 0; i < positions; i++) {
    const lower = clamp(tick - Number(random.below(BigInt(reach))));
    const upper = clamp(tick + Number(random.below(BigInt(reach))) + tickSpacing);
    if (lower < upper) addLiquidity(svm, provider, pool, lower, upper, unit * (1n + random.magnitude(1_000n)));
  }
}
