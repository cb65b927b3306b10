import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Address } from "../../../src/primitives/address.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { SOL_MINT, USDC_MINT } from "../../../src/solana/programs.ts";
import { PUMP_PROGRAM } from "../../../src/venues/pump-fun/layout.ts";
import { pumpFun } from "../../../src/venues/pump-fun/venue.ts";
import { PUMP_SWAP_PROGRAM } from "../../../src/venues/pump-swap/layout.ts";
import { pumpSwap } from "../../../src/venues/pump-swap/venue.ts";
import { PUMP_FEE_PROGRAM } from "../../../src/venues/shared/pump-fees.ts";
import { runTrades, type TradePlan } from "../../conformance/trades.ts";
import { alwaysLean } from "../../support/lean-venue.ts";
import { Svm } from "../../support/svm.ts";
import { type PumpBuilds, pumpBuildsOf } from "./support/pump-builds.ts";
import { type FeeSchedules, SCHEDULES, writeCoin, writePumpSettings } from "./support/pump-fun.ts";
import { writePumpPool, writePumpSwapSettings } from "./support/pump-swap.ts";
import { newKey } from "./support/random-keys.ts";
import { releaseRuntimes } from "./support/runtimes.ts";

/**
 * Every trade has the fee program decode all tiers of both schedules: limits have to follow how many there are. Mainnet's pools
 * had 25 in each in September 2026; an account has room for 50 in each.
 */
const BUILDS = pumpBuildsOf("pump_fun");
const TIERS = [
  [1, 1],
  [4, 3],
  [13, 3],
  [25, 25],
  [50, 50],
] as const;
const TRADES = 12;
const STEP = 10n ** 9n;

beforeEach(() => void vi.stubEnv("VENUE_RUNS", undefined));
afterEach(() => void vi.unstubAllEnvs());

type Place = Pick<TradePlan, "venue" | "market" | "pair">;
interface Plan {
  readonly build: PumpBuilds;
  readonly schedules: FeeSchedules;
  readonly random: Random;
  readonly cap: bigint;
}
type Make = (svm: Svm, plan: Plan) => Place;

function tiersOf(count: number): FeeSchedules["tiers"] {
  return Array.from({ length: count }, (_, index) => [BigInt(index) * STEP, [2n, 93n, 30n]] as const);
}

const newCoin = (svm: Svm): Address => svm.newMint({ decimals: 6, supply: 10n ** 15n });

const onCurve =
  (venue: TradePlan["venue"], quote: Address): Make =>
  (svm, { build, schedules, random, cap }) => {
    svm.addProgram(PUMP_PROGRAM, build.fun);
    writePumpSettings(svm, { schedules, quoteMints: quote === SOL_MINT ? [] : [quote] });
    const mint = newCoin(svm);
    const amounts = { realTokens: 7n * 10n ** 14n, realQuote: cap / 2n, virtualTokens: 10n ** 15n, virtualQuote: cap };
    const market = writeCoin(svm, { mint, quoteMint: quote, creator: newKey(random), ...amounts });
    return { venue, market, pair: { a: mint, b: quote } };
  };

const inPool =
  (quote: Address): Make =>
  (svm, { build, schedules, random, cap }) => {
    svm.addProgram(PUMP_SWAP_PROGRAM, build.swap);
    writePumpSwapSettings(svm, { quoteMint: quote, schedules });
    const base = newCoin(svm);
    const coinCreator = newKey(random);
    const market = writePumpPool(svm, { base, quote, baseAmount: 10n ** 15n, quoteAmount: cap, coinCreator });
    return { venue: pumpSwap, market, pair: { a: base, b: quote } };
  };

describe.skipIf(BUILDS.length === 0).each(BUILDS)("Pump's fee tiers ($path)", (build) => {
  it.each<{ name: string; make: Make; quote: Address }>([
    { name: "pump_fun", make: onCurve(pumpFun, SOL_MINT), quote: SOL_MINT },
    { name: "pump_fun by older instructions", make: onCurve(alwaysLean(pumpFun), SOL_MINT), quote: SOL_MINT },
    { name: "pump_fun for USDC", make: onCurve(pumpFun, USDC_MINT), quote: USDC_MINT },
    { name: "pump_swap", make: inPool(SOL_MINT), quote: SOL_MINT },
    { name: "pump_swap for USDC", make: inPool(USDC_MINT), quote: USDC_MINT },
  ])("are in the limit of $name, however many", async ({ name, make, quote }) => {
    const ratios: number[] = [];
    for (const [seed, [count, stable]] of TIERS.entries()) {
      const random = createRandom(seed + 1);
      const schedules = { ...SCHEDULES, tiers: tiersOf(count), stableTiers: tiersOf(stable) };
      for (const tier of [0, 1, Math.floor(count / 2), count - 1]) {
        const svm = new Svm();
        svm.addProgram(PUMP_FEE_PROGRAM, build.fees);
        if (quote === USDC_MINT) svm.newMint({ decimals: 6, address: USDC_MINT });
        const cap = BigInt(tier) * STEP + STEP / 2n;
        const place = make(svm, { build, schedules, random, cap });
        const wallet = svm.newWallet(1n << 60n);
        const outcomes = runTrades({
          svm,
          ...place,
          wallet,
          random,
          count: TRADES,
          limit: (mint) => (mint === quote ? cap / 20n : 10n ** 13n),
          before: () => {
            for (const mint of [place.pair!.a, quote]) svm.setTokens(wallet, mint, 1n << 55n);
          },
          guards: false,
          shadow: false,
        });
        const made = outcomes.filter(({ executed }) => executed !== undefined);
        for (const { executed, quoted } of made) expect(executed).toEqual(quoted);
        ratios.push(...made.map((one) => one.computeUnitBound / one.computeUnits));
        await releaseRuntimes();
      }
    }
    const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
    console.log(`${name}: ${ratios.length} trades, bound/used ${least.toFixed(3)} to ${most.toFixed(3)}`);
    expect(ratios.length).toBeGreaterThan(100);
    expect(least).toBeGreaterThanOrEqual(1);
    expect(most).toBeLessThanOrEqual(1.3);
  });
});
