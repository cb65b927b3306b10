import { describe, expect, it } from "vitest";
import type { Address } from "../../../src/primitives/address.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, USDC_MINT } from "../../../src/solana/programs.ts";
import { decodeBondingCurve, PUMP_PROGRAM } from "../../../src/venues/pump-fun/layout.ts";
import { pumpFun } from "../../../src/venues/pump-fun/venue.ts";
import { PUMP_FEE_PROGRAM } from "../../../src/venues/shared/pump-fees.ts";
import { judge, runTrades, type TradeOutcome } from "../../conformance/trades.ts";
import { oftenLean } from "../../support/lean-venue.ts";
import { Svm } from "../../support/svm.ts";
import { tradesOn } from "./support/builds.ts";
import { newTradedMint } from "./support/metadata-mint.ts";
import { pumpBuildsOf } from "./support/pump-builds.ts";
import { SCHEDULES, WITHOUT_CREATORS, writeCoin, writePumpSettings } from "./support/pump-fun.ts";
import { metadataOf, newKey, newWallet } from "./support/random-keys.ts";

/** Copies of `artifacts/pump.so` and `artifacts/pump_fees.so` of the crate pump-rust-client. */
const BUILDS = pumpBuildsOf("pump_fun");
if (BUILDS.length === 0) console.log("pump_fun on the real program: skipped, it or its program of fees is not there");

const COINS = 48;
/** Each trades on every coin, new to the program at first. */
const WALLETS = 4;
const TRADES_PER_WALLET = 15;

describe.skipIf(BUILDS.length === 0).each(BUILDS)("pump_fun on the real program ($path)", (build) => {
  const coins = tradesOn(build, COINS);
  const native: TradeOutcome[] = [];
  const tokenQuoted: TradeOutcome[] = [];

  for (let seed = 1; seed <= coins; seed++) {
    it(`is exact: coin ${seed}`, () => {
      const random = createRandom(seed);
      const svm = new Svm();
      svm.addProgram(PUMP_PROGRAM, build.fun);
      svm.addProgram(PUMP_FEE_PROGRAM, build.fees);
      const quote = newQuote(svm, seed, random);
      writePumpSettings(svm, {
        schedules: seed % 8 === 0 ? WITHOUT_CREATORS : SCHEDULES,
        creatorFeeConfigurable: random.chance(0.5),
        buybackBps: random.below(10_001n),
        quoteMints: quote.mint === SOL_MINT ? [] : [quote.mint],
      });
      const { mint, curve } = newCoin(svm, quote, random);
      const { venue, leaner } = oftenLean(pumpFun);
      const outcomes = Array.from({ length: WALLETS }, () => {
        const wallet = newWallet(svm, random, 1n << 60n);
        return runTrades({
          svm,
          venue,
          market: curve,
          pair: { a: quote.mint, b: mint },
          wallet,
          random,
          count: TRADES_PER_WALLET,
          limit: (side) => {
            const state = decodeBondingCurve(svm.get(curve)!)!;
            return side === mint ? state.realTokens / 4n + 1n : state.virtualQuote / 5n;
          },
          before: () => {
            const state = decodeBondingCurve(svm.get(curve)!)!;
            svm.setTokens(wallet, mint, 1n << 60n);
            if (quote.mint !== SOL_MINT) svm.setTokens(wallet, quote.mint, state.virtualQuote * 4n);
          },
        });
      }).flat();
      const verdict = judge(outcomes);
      expect(verdict.faults).toEqual([]);
      if (quote.mint === SOL_MINT) expect(leaner()).toBeGreaterThan(WALLETS);
      (quote.mint === SOL_MINT ? native : tokenQuoted).push(...outcomes);
    });
  }

  it("made as many trades as it should, with a tight bound on compute units", () => {
    const verdicts = [judge(native), judge(tokenQuoted)];
    for (const verdict of verdicts)
      console.log(`pump_fun: ${JSON.stringify({ ...verdict, faults: verdict.faults.length })}`);
    expect(verdicts[0]!.trades + verdicts[1]!.trades).toBeGreaterThanOrEqual(build.isMain ? 2_000 : 41 * coins);
    expect(verdicts[0]!.worstUnitRatio).toBeLessThanOrEqual(1.22);
    expect(verdicts[1]!.worstUnitRatio).toBeLessThanOrEqual(1.22);
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
    case 5: {
      const decimals = Number(random.between(5n, 9n));
      const program = seed % 6 === 4 ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM;
      return {
        mint: newTradedMint(svm, { decimals, program, address: newKey(random), metadata: metadataOf(program, random) }),
        unit: 10n ** BigInt(decimals),
      };
    }
    default:
      return { mint: SOL_MINT, unit: 1_000_000_000n };
  }
}

/** A coin somewhere on its way along the curve, from new to worth a thousand times as much. */
function newCoin(svm: Svm, quote: QuoteToken, random: Random): { readonly mint: Address; readonly curve: Address } {
  const supply = random.between(400_000_000_000_000n, 1_000_000_000_000_000n);
  const program = random.chance(0.5) ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM;
  const mint = newTradedMint(svm, {
    decimals: 6,
    supply,
    program,
    address: newKey(random),
    metadata: metadataOf(program, random),
  });
  const realTokens = random.between(1_000_000_000n, 793_100_000_000_000n);
  const realQuote = random.between(1n, 85n) * quote.unit + random.below(quote.unit);
  const cashback = random.chance(0.25);
  const curve = writeCoin(svm, {
    mint,
    quoteMint: quote.mint,
    virtualTokens: realTokens + 279_900_000_000_000n,
    virtualQuote: realQuote + 30n * quote.unit * 10n ** random.below(4n),
    realTokens,
    realQuote,
    ...(random.chance(0.85) || cashback ? { creator: newKey(random) } : {}),
    withoutVault: random.chance(0.3),
    mayhem: random.chance(0.25),
    cashback,
    holderReward: !cashback && random.chance(0.3),
    creatorFeeBps: !cashback && random.chance(0.5) ? random.between(1n, 500n) : 0n,
    supply: random.between(400_000_000_000_000n, 1_000_000_000_000_000n),
  });
  return { mint, curve };
}
