import { describe, expect, it } from "vitest";
import type { Address } from "../../../src/primitives/address.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, USDC_MINT } from "../../../src/solana/programs.ts";
import { tokenBalance } from "../../../src/solana/token/token-account.ts";
import { decodePumpSwapMarket, PUMP_SWAP_PROGRAM } from "../../../src/venues/pump-swap/layout.ts";
import { pumpSwap } from "../../../src/venues/pump-swap/venue.ts";
import { PUMP_FEE_PROGRAM } from "../../../src/venues/shared/pump-fees.ts";
import { judge, runTrades, type TradeOutcome } from "../../conformance/trades.ts";
import { buyForTrimmedBudgets } from "../../conformance/trimmed-budgets.ts";
import { Svm } from "../../support/svm.ts";
import { tradesOn } from "./support/builds.ts";
import { newTradedMint } from "./support/metadata-mint.ts";
import { pumpBuildsOf } from "./support/pump-builds.ts";
import { WITHOUT_CREATORS } from "./support/pump-fun.ts";
import { writePumpPool, writePumpSwapSettings } from "./support/pump-swap.ts";
import { metadataOf, newKey, newWallet } from "./support/random-keys.ts";

/** Copies of `artifacts/pump_amm.so` and `artifacts/pump_fees.so` of the crate pump-rust-client. */
const BUILDS = pumpBuildsOf("pump_swap");
if (BUILDS.length === 0) console.log("pump_swap on the real program: skipped, it or its program of fees is not there");

const POOLS = 48;
/** Each trades on every pool, new to the program at first. */
const WALLETS = 4;
const TRADES_PER_WALLET = 14;
const POOL_SIZES = [211, 243, 244, 245, 261, 271, 300, 300, 300, 300, 300, 300];

describe.skipIf(BUILDS.length === 0).each(BUILDS)("pump_swap on the real program ($path)", (build) => {
  const pools = tradesOn(build, POOLS);
  const all: TradeOutcome[] = [];

  for (let seed = 1; seed <= pools; seed++) {
    it(`is exact: pool ${seed}`, () => {
      const random = createRandom(seed);
      const svm = new Svm();
      svm.addProgram(PUMP_SWAP_PROGRAM, build.swap);
      svm.addProgram(PUMP_FEE_PROGRAM, build.fees);
      const quote = newQuote(svm, seed, random);
      writePumpSwapSettings(svm, {
        creatorFeeConfigurable: random.chance(0.5),
        buybackBps: random.below(10_001n),
        quoteMint: quote.mint,
      });
      const { mint, pool } = newPool(svm, quote, random);
      const held = (index: 0 | 1): bigint =>
        tokenBalance(svm.get(decodePumpSwapMarket(svm.get(pool)!)!.vaults[index])!);
      const outcomes = Array.from({ length: WALLETS }, () => {
        const wallet = newWallet(svm, random);
        return runTrades({
          svm,
          venue: pumpSwap,
          market: pool,
          wallet,
          random,
          count: TRADES_PER_WALLET,
          limit: (side, mode) => {
            const most = held(side === mint ? 0 : 1);
            return mode === "exactIn" ? most : (most * 9n) / 10n;
          },
          before: () => {
            svm.setTokens(wallet, mint, 1n << 62n);
            svm.setTokens(wallet, quote.mint, 1n << 62n);
          },
        });
      }).flat();
      const verdict = judge(outcomes);
      expect(verdict.faults).toEqual([]);
      all.push(...outcomes);
    });
  }

  it.each([false, true])("is exact where the schedule gives the creator nothing: cashback %s", (cashback) => {
    const svm = new Svm();
    svm.addProgram(PUMP_SWAP_PROGRAM, build.swap);
    svm.addProgram(PUMP_FEE_PROGRAM, build.fees);
    writePumpSwapSettings(svm, { schedules: WITHOUT_CREATORS, quoteMint: SOL_MINT });
    const base = svm.newMint({ decimals: 6, supply: 10n ** 15n });
    const amounts = { baseAmount: 10n ** 14n, quoteAmount: 10n ** 11n };
    const pool = writePumpPool(svm, { base, quote: SOL_MINT, ...amounts, cashback, coinCreator: svm.newAddress() });
    const wallet = svm.newWallet();
    const outcomes = runTrades({
      svm,
      venue: pumpSwap,
      market: pool,
      wallet,
      random: createRandom(3),
      count: TRADES_PER_WALLET,
      limit: () => 10n ** 9n,
      before: () => {
        for (const mint of [base, SOL_MINT]) svm.setTokens(wallet, mint, 1n << 50n);
      },
      shadow: false,
    });
    const { faults, trades } = judge(outcomes);
    expect(faults).toEqual([]);
    expect(trades).toBeGreaterThan(TRADES_PER_WALLET / 2);
  });

  it.each([1, 2, 4, 5])("leaves the stated reserves where rounding takes units off a budget: pool %d", (seed) => {
    const random = createRandom(1_000 + seed);
    const svm = new Svm();
    svm.addProgram(PUMP_SWAP_PROGRAM, build.swap);
    svm.addProgram(PUMP_FEE_PROGRAM, build.fees);
    const quote = newQuote(svm, seed, random);
    writePumpSwapSettings(svm, { creatorFeeConfigurable: seed % 2 === 0, quoteMint: quote.mint });
    const { mint, pool } = newPool(svm, quote, random);
    const wallet = newWallet(svm, random);
    svm.setTokens(wallet, mint, 0n);
    svm.setTokens(wallet, quote.mint, 1n << 62n);
    for (const { said, found } of buyForTrimmedBudgets(svm, pool, wallet, 25)) expect(said).toEqual(found);
  });

  it("made as many trades as it should, with a tight bound on compute units", () => {
    const verdict = judge(all);
    console.log(`pump_swap: ${JSON.stringify({ ...verdict, faults: verdict.faults.length })}`);
    expect(verdict.trades).toBeGreaterThanOrEqual(build.isMain ? 2_000 : 41 * pools);
    expect(verdict.worstUnitRatio).toBeLessThanOrEqual(1.22);
  });
});

interface QuoteToken {
  readonly mint: Address;
  readonly unit: bigint;
}

/** SOL most often; USDC_MINT, which has fee tiers of its own; other tokens under both token programs. */
function newQuote(svm: Svm, seed: number, random: Random): QuoteToken {
  switch (seed % 6) {
    case 3:
      return { mint: svm.newMint({ decimals: 6, address: USDC_MINT }), unit: 1_000_000n };
    case 4:
      return { mint: svm.newMint({ decimals: 8, address: newKey(random) }), unit: 100_000_000n };
    case 5:
      return {
        mint: newTradedMint(svm, {
          decimals: 6,
          program: TOKEN_2022_PROGRAM,
          address: newKey(random),
          metadata: random.chance(0.5),
        }),
        unit: 1_000_000n,
      };
    default:
      return { mint: SOL_MINT, unit: 1_000_000_000n };
  }
}

/** Canonical pools of every kind of coin, and pools made by others, from small to large. */
function newPool(svm: Svm, quote: QuoteToken, random: Random): { readonly mint: Address; readonly pool: Address } {
  const supply = random.between(400_000_000_000_000n, 1_000_000_000_000_000n);
  const program = random.chance(0.5) ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM;
  const mint = newTradedMint(svm, {
    decimals: 6,
    supply,
    program,
    address: newKey(random),
    metadata: metadataOf(program, random),
  });
  const size = random.pick(POOL_SIZES);
  const canonical = random.chance(0.8);
  const quoteAmount = random.between(1n, 90n) * quote.unit * 10n ** random.below(4n) + random.below(quote.unit);
  const cashback = canonical && size >= 245 && random.chance(0.3);
  const pool = writePumpPool(svm, {
    base: mint,
    quote: quote.mint,
    baseAmount: random.between(1_000_000_000n, 206_900_000_000_000n),
    quoteAmount,
    size,
    ...(canonical ? {} : { creator: newKey(random) }),
    ...(canonical && size >= 243 && (cashback || random.chance(0.8)) ? { coinCreator: newKey(random) } : {}),
    mayhem: canonical && size >= 244 && random.chance(0.25),
    cashback,
    virtualQuote: size >= 261 && canonical && random.chance(0.4) ? random.below(quoteAmount) : 0n,
    creatorFeeBps: size >= 271 && canonical && !cashback && random.chance(0.5) ? random.between(1n, 500n) : 0n,
    holderReward: size >= 271 && canonical && !cashback && random.chance(0.3),
    withoutVault: random.chance(0.3),
  });
  return { mint, pool };
}
