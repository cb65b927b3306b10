import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Address } from "../../../src/primitives/address.ts";
import { minOf, U64_MAX } from "../../../src/primitives/integer.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import { SOL_MINT } from "../../../src/solana/programs.ts";
import { tokenBalance } from "../../../src/solana/token/token-account.ts";
import { CPMM_PROGRAM, decodeCpmmMarket } from "../../../src/venues/raydium-cpmm/layout.ts";
import { raydiumCpmm } from "../../../src/venues/raydium-cpmm/venue.ts";
import { judge, readMarket, runTrades, type TradeOutcome } from "../../conformance/trades.ts";
import { Svm } from "../../support/svm.ts";
import { buildsOf, tradesOn } from "./support/builds.ts";
import { type MintMaker, plain2022, sol, spl, taxed } from "./support/mint-makers.ts";
import { type CpmmRates, createCpmmPool, writeCpmmConfig } from "./support/raydium-cpmm.ts";

const PROGRAM = ".venues/raydium_cpmm.so";
const present = existsSync(PROGRAM);
if (!present) console.log(`raydium_cpmm on the real program: skipped, ${PROGRAM} is not there`);

const RATES: readonly CpmmRates[] = [
  { trade: 2_500n, protocol: 120_000n, fund: 40_000n, creator: 500n },
  { trade: 10_000n, protocol: 120_000n, fund: 40_000n, creator: 500n },
  { trade: 40_000n, protocol: 333_333n, fund: 100_001n, creator: 0n },
  { trade: 0n, protocol: 0n, fund: 0n, creator: 0n },
];

const POOLS: readonly {
  readonly name: string;
  readonly mints: readonly [MintMaker, MintMaker];
  readonly amounts: readonly [bigint, bigint];
  readonly atOwnKey?: boolean;
}[] = [
  { name: "SOL and a plain token", mints: [sol, spl(6)], amounts: [500_000_000_000n, 20_000_000_000_000n] },
  { name: "few units on one side", mints: [spl(0), spl(9)], amounts: [5_000n, 7_000_000_000_000_000n] },
  { name: "two large reserves", mints: [spl(9), spl(9)], amounts: [1n << 61n, 1n << 60n], atOwnKey: true },
  { name: "SOL and Token-2022", mints: [sol, plain2022], amounts: [90_000_000_000n, 33_333_333_333n] },
  { name: "SOL and 1.5 % transfer fee", mints: [sol, taxed(150, 1n << 62n)], amounts: [80_000_000_000n, 1n << 50n] },
  { name: "capped transfer fee", mints: [spl(6), taxed(500, 12_345n)], amounts: [1n << 42n, 1n << 47n] },
  { name: "two transfer fees", mints: [taxed(1, 1n << 62n), taxed(9_999, 777n)], amounts: [1n << 45n, 1n << 45n] },
  { name: "whole transfer withheld up to a cap", mints: [taxed(10_000, 4n), spl(3)], amounts: [1n << 40n, 1n << 33n] },
];
const TRADES_PER_POOL = 80;

const BUILDS = buildsOf("raydium_cpmm");

describe.skipIf(!present).each(BUILDS)("raydium_cpmm on the real program ($path)", (build) => {
  const count = tradesOn(build, TRADES_PER_POOL);
  const all: TradeOutcome[] = [];

  for (const [configIndex, rates] of RATES.entries()) {
    for (const [poolIndex, shape] of POOLS.entries()) {
      it(`is exact: ${shape.name}, trade fee ${rates.trade} ppm`, () => {
        const svm = new Svm();
        svm.addProgram(CPMM_PROGRAM, PROGRAM);
        const config = writeCpmmConfig(svm, configIndex, rates);
        const wallet = svm.newWallet();
        const mints = [shape.mints[0](svm), shape.mints[1](svm)] as const;
        const market = createCpmmPool(svm, {
          creator: svm.newWallet(),
          config,
          mints,
          amounts: shape.amounts,
          ...(shape.atOwnKey === true ? { address: svm.newAddress() } : {}),
        });
        const fund = (): void => {
          for (const mint of mints) {
            const held = vaultBalance(svm, market, mint);
            svm.setTokens(wallet, mint, minOf(held * 1_000n, U64_MAX - held));
          }
        };
        svm.addProgram(CPMM_PROGRAM, build.path);
        const random = createRandom(1_000 * configIndex + poolIndex + 1);
        const outcomes = runTrades({
          svm,
          venue: raydiumCpmm,
          market,
          wallet,
          random,
          count,
          limit: (mint, mode) => {
            const held = vaultBalance(svm, market, mint);
            return mode === "exactIn" ? held * 2n : (held * 9n) / 10n;
          },
          before: () => {
            fund();
            const clock = svm.clock();
            svm.setClock({ ...clock, slot: clock.slot + 3n, unixTimestamp: clock.unixTimestamp + 1n });
          },
        });
        const verdict = judge(outcomes);
        expect(verdict.faults).toEqual([]);
        expect(verdict.trades).toBeGreaterThan(count / 3);
        all.push(...outcomes);
      });
    }
  }

  if (build.isMain)
    it("made at least 2,000 trades, with a tight bound on compute units", () => {
      const verdict = judge(all);
      console.log(`raydium_cpmm: ${JSON.stringify({ ...verdict, faults: verdict.faults.length })}`);
      expect(verdict.trades).toBeGreaterThanOrEqual(2_000);
      expect(verdict.worstUnitRatio).toBeLessThanOrEqual(1.3);
    });

  it("finds its pools by derivation and reads one in two rounds", () => {
    const svm = new Svm();
    svm.addProgram(CPMM_PROGRAM, PROGRAM);
    const config = writeCpmmConfig(svm, 1, RATES[1]!);
    const mint = svm.newMint({ decimals: 6 });
    const market = createCpmmPool(svm, {
      creator: svm.newWallet(),
      config,
      mints: [SOL_MINT, mint],
      amounts: [10_000_000_000n, 10_000_000n],
    });
    const [guess] = raydiumCpmm.search({ a: mint, b: SOL_MINT });
    expect(guess?.kind === "guess" && guess.addresses().includes(market)).toBe(true);
    expect(readMarket(svm, raydiumCpmm, market).rounds).toBe(2);
  });
});

function vaultBalance(svm: Svm, address: Address, mint: Address): bigint {
  const market = decodeCpmmMarket(svm.get(address)!)!;
  return tokenBalance(svm.get(market.vaults[market.mints[0] === mint ? 0 : 1])!);
}
