import { existsSync } from "node:fs";
import { afterEach, expect, it } from "vitest";
import { TradewireError } from "../../../src/errors/tradewire-error.ts";
import type { Address } from "../../../src/primitives/address.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { setComputeUnitLimit } from "../../../src/solana/compute-budget.ts";
import { associatedTokenAddress } from "../../../src/solana/pda.ts";
import { unitLimit } from "../../../src/trade/build/budget.ts";
import { DLMM_PROGRAM } from "../../../src/venues/meteora-dlmm/layout.ts";
import { meteoraDlmm } from "../../../src/venues/meteora-dlmm/venue.ts";
import { WHIRLPOOL_PROGRAM } from "../../../src/venues/orca-whirlpool/layout.ts";
import { whirlpoolSqrtPrice } from "../../../src/venues/orca-whirlpool/tick-price.ts";
import { orcaWhirlpool } from "../../../src/venues/orca-whirlpool/venue.ts";
import { CLMM_PROGRAM } from "../../../src/venues/raydium-clmm/layout.ts";
import { clmmSqrtPrice } from "../../../src/venues/raydium-clmm/ticks/tick-price.ts";
import { raydiumClmm } from "../../../src/venues/raydium-clmm/venue.ts";
import type { Quote, SwapLeg, SwapMode, Venue } from "../../../src/venues/venue.ts";
import { readMarket } from "../../conformance/trades.ts";
import { Svm } from "../../support/svm.ts";
import { addLiquidity as addBins, createDlmmPair, STRATEGIES } from "./support/meteora-dlmm.ts";
import { fundPlenty } from "./support/open-markets.ts";
import { addLiquidity, createWhirlpool } from "./support/orca-whirlpool.ts";
import { addClmmLiquidity, createClmmPool, METAPLEX_PROGRAM, writeClmmConfig } from "./support/raydium-clmm.ts";
import { releaseRuntimes } from "./support/runtimes.ts";

/**
 * Another trade moves the price within the slippage, or as far the other way, before a trade lands: it then crosses other ticks than quoted.
 * What a new quote makes within the bound must land with the accounts that were signed, and with the limit on compute units that its build
 * sends.
 */
const SEED = Number(process.env.SEED ?? 8_600_001);
const TRADES = Number(process.env.TRADES ?? 400);
const MARGIN = { computeUnitMarginPercent: 10 };
const POSITIONS = 40;
const REACH = 40n;
/** Base units. */
const DEPTH = 10n ** 12n;
const SIZES = [10_000n, 1_000n, 100n, 20n];
const SLIPPAGES = [10n, 50n, 100n, 300n];

interface Kind {
  readonly venue: Venue;
  readonly files: readonly (readonly [Address, string])[];
  open(
    svm: Svm,
    wallet: Address,
    mints: readonly [Address, Address],
    spacing: number,
  ): { readonly address: Address; readonly add: Add };
}

const whirlpool: Kind = {
  venue: orcaWhirlpool as Venue,
  files: [[WHIRLPOOL_PROGRAM, ".venues/orca_whirlpool.so"]],
  open(svm, creator, mints, tickSpacing) {
    const pool = createWhirlpool(svm, {
      ...{ creator, mints, tickSpacing, feeRate: 400 },
      sqrtPrice: whirlpoolSqrtPrice(3) + 77n,
    });
    return { address: pool.address, add: (...range) => addLiquidity(svm, creator, pool, ...range) };
  },
};

const clmm: Kind = {
  venue: raydiumClmm as Venue,
  files: [
    [CLMM_PROGRAM, ".venues/raydium_clmm.so"],
    [METAPLEX_PROGRAM, ".venues/metaplex_token_metadata.so"],
  ],
  open(svm, wallet, mints, spacing) {
    const config = writeClmmConfig(svm, 7, spacing, 400);
    const pool = createClmmPool(svm, wallet, config, spacing, mints, clmmSqrtPrice(3) + 77n);
    return { address: pool.address, add: (...range) => addClmmLiquidity(svm, wallet, pool, ...range) };
  },
};

const DLMM_FILE = ".venues/meteora_dlmm.so";

/** Bins of very different amounts. */
const dlmm: Kind = {
  venue: meteoraDlmm as Venue,
  files: [[DLMM_PROGRAM, DLMM_FILE]],
  open(svm, wallet, mints, binStep) {
    const bench = createDlmmPair(svm, wallet, ...mints, {
      ...{ binStep, baseFactor: 10_000, variableFeeControl: 7_500, maxVolatility: 350_000, filterPeriod: 30 },
      ...{ decayPeriod: 600, reductionFactor: 5_000, limitOrders: false, collectFeeMode: 0, activeId: 0 },
    });
    let count = 0;
    return {
      address: bench.pair,
      // A few neighbouring bins on either side, each time of another depth; the active one if the range is empty.
      add(low, high, liquidity) {
        const shape = { activeId: 0, strategy: STRATEGIES.spot };
        const amount = low === high ? liquidity : liquidity / 10n ** BigInt(count++ % 5);
        const [below, above] = [low / binStep, high / binStep];
        addBins(bench, 0n, amount, { ...shape, low: below, high: Math.min(below + 2, low === high ? 0 : -1) });
        if (low !== high) addBins(bench, amount, 0n, { ...shape, low: Math.max(above - 2, 1), high: above });
      },
    };
  },
};

const CASES = [
  [whirlpool, 1],
  [whirlpool, 4],
  [whirlpool, 64],
  [clmm, 1],
  [clmm, 10],
  [clmm, 60],
  [dlmm, 1],
  [dlmm, 10],
  [dlmm, 100],
] as const;
const present = CASES.filter(([{ files }]) => files.every(([, path]) => existsSync(path))).map(([kind, spacing]) => ({
  ...kind,
  name: kind.venue.id,
  spacing,
}));

afterEach(releaseRuntimes);

it.runIf(present.length > 0).each(present)("$name, tick spacing $spacing", ({ spacing, ...kind }) => {
  const bench = openBench(kind, spacing, createRandom(SEED));
  const { svm, wallet, random } = bench;
  const faults: string[] = [];
  let [landed, raised] = [0, 0];
  for (let index = 0; index < TRADES; index++) {
    bench.fund();
    const slippageBps = random.pick(SLIPPAGES);
    const isForwards = random.chance(0.5);
    const mode: SwapMode = random.pick(["exactIn", "exactOut"]);
    const amount = random.magnitude(DEPTH / random.pick(SIZES));
    const leg = swapOf(bench, mode, isForwards, amount, slippageBps);
    const from = priceOf(bench);
    const another = swapOf(bench, "exactIn", random.chance(0.5), random.magnitude(DEPTH), 10_000n);
    if (leg === undefined || another === undefined) continue;
    if (!svm.send(wallet, [setComputeUnitLimit(1_400_000), ...another.instructions]).ok) continue;
    const moved = Math.abs(priceOf(bench) / from - 1);
    if (moved > Number(slippageBps) / 1e4) continue;
    const done = svm.simulate(wallet, [setComputeUnitLimit(1_400_000), ...leg.instructions]);
    if (!done.ok) {
      if (keepsBound(bench, leg, amount)) faults.push(`#${index}, moved by ${moved}: ${done.error}`);
      continue;
    }
    landed++;
    const limit = unitLimit(MARGIN, leg.computeUnits, leg.movedUnits ?? 0);
    raised += limit / unitLimit(MARGIN, leg.computeUnits, 0);
    const used = done.computeUnits + FURTHER_BUDGET_UNITS;
    if (used > limit)
      faults.push(`#${index}, moved by ${moved}, slippage ${slippageBps} bps: used ${used} of ${limit}`);
  }
  console.log(`moved units | ${kind.venue.id} ${spacing} | ${landed} landed | limit × ${(raised / landed).toFixed(2)}`);
  expect(faults).toEqual([]);
  expect(landed).toBeGreaterThan(TRADES / 4);
});

it.runIf(existsSync(DLMM_FILE))(
  "meteora_dlmm: a trade that was quoted in one deep bin lands among shallow ones",
  () => {
    const bench = openWith(dlmm, 10, createRandom(SEED), (add) => {
      // 3,000 million a bin on either side of the deep one.
      for (const away of [30, 60, 90]) add(-away, away, 10n ** 10n);
      add(0, 0, DEPTH);
    });
    const { svm, wallet } = bench;
    const leg = swapOf(bench, "exactIn", true, 8n * 10n ** 9n, 200n)!;
    const another = swapOf(bench, "exactIn", true, DEPTH, 10_000n)!;
    const send = [setComputeUnitLimit(1_400_000), ...another.instructions];
    expect(svm.send(wallet, send).ok).toBe(true);
    const done = svm.simulate(wallet, [setComputeUnitLimit(1_400_000), ...leg.instructions]);
    expect(done.ok).toBe(true);
    const used = done.computeUnits + FURTHER_BUDGET_UNITS;
    expect(used).toBeGreaterThan(unitLimit(MARGIN, leg.computeUnits, 0));
    expect(used).toBeLessThanOrEqual(unitLimit(MARGIN, leg.computeUnits, leg.movedUnits!));
  },
);

/** Parts of `DEPTH`: what one bin gives, and what also takes the array that was the trade's first. */
const BACK_CASES = (["exactIn", "exactOut"] as const).flatMap((mode) =>
  [0.001, 0.6].map((share) => [mode, BigInt(share * Number(DEPTH))] as const),
);

it.runIf(existsSync(DLMM_FILE)).each(BACK_CASES)(
  "meteora_dlmm: a price moves back into the array behind, %s of %s",
  (mode, amount) => {
    const bench = openWith(dlmm, 10, createRandom(SEED), (add) => {
      // The active bin is the first of its array.
      add(0, 0, DEPTH);
      add(-20, 20, DEPTH);
    });
    const { svm, wallet } = bench;
    const leg = swapOf(bench, mode, false, amount, 0n)!;
    const another = swapOf(bench, "exactIn", true, (DEPTH * 3n) / 2n, 10_000n)!;
    expect(svm.send(wallet, [setComputeUnitLimit(1_400_000), ...another.instructions]).ok).toBe(true);
    const { state } = readMarket(svm, bench.venue, bench.address);
    expect((state as { readonly pair: { readonly activeId: number } }).pair.activeId).toBe(-1);
    const done = svm.simulate(wallet, [setComputeUnitLimit(1_400_000), ...leg.instructions]);
    expect(done.ok).toBe(true);
    expect(done.computeUnits + FURTHER_BUDGET_UNITS).toBeLessThanOrEqual(unitLimit(MARGIN, leg.computeUnits, 0));
  },
);

/** Of the instructions that a build sets its budget with, one is sent here. */
const FURTHER_BUDGET_UNITS = 300;

type Bench = ReturnType<typeof openBench>;

function openBench(kind: Kind, spacing: number, random: Random) {
  return openWith(kind, spacing, random, (add) => {
    const away = () => Number(random.between(1n, REACH)) * spacing;
    for (let left = POSITIONS; left > 0; left--) add(-away(), away(), random.between(DEPTH / 10n, DEPTH * 10n));
  });
}

type Add = (low: number, high: number, liquidity: bigint) => void;

function openWith({ venue, files, open }: Kind, spacing: number, random: Random, fill: (add: Add) => void) {
  const svm = new Svm();
  for (const [program, path] of files) svm.addProgram(program, path);
  const wallet = svm.newWallet(10n ** 15n);
  const newMint = () => svm.newMint({ decimals: 6, supply: 10n ** 18n });
  const mints = [newMint(), newMint()] as const;
  const fund = () => fundPlenty(svm, wallet, mints);
  fund();
  const { address, add } = open(svm, wallet, mints, spacing);
  fill(add);
  return { svm, venue, address, wallet, random, fund };
}

/** Token 1 per token 0. */
function priceOf({ svm, venue, address }: Bench): number {
  const { state } = readMarket(svm, venue, address);
  if (venue.id === "meteora_dlmm") return Number((state as { readonly activePrice: bigint }).activePrice);
  const { curve } = state as { readonly curve: { readonly sqrtPrice: bigint } };
  return (Number(curve.sqrtPrice) / 2 ** 64) ** 2;
}

interface SignedLeg extends SwapLeg {
  readonly quote: Quote;
  readonly threshold: bigint;
}

/** True if a new quote of the same trade is within what was signed. */
function keepsBound(bench: Bench, { quote, threshold }: SignedLeg, amount: bigint): boolean {
  const { market } = readMarket(bench.svm, bench.venue, bench.address);
  const now = swapOf(bench, quote.mode, quote.inMint === market.mints[0], amount, 0n)?.quote;
  if (now === undefined) return false;
  return quote.mode === "exactIn" ? now.outAmount >= threshold : now.inAmount <= threshold;
}

/** A swap as it is signed now; undefined if the market refuses it. */
function swapOf(
  { svm, venue, address, wallet }: Bench,
  mode: SwapMode,
  isForwards: boolean,
  amount: bigint,
  slippageBps: bigint,
): SignedLeg | undefined {
  const { market, state } = readMarket(svm, venue, address);
  const [inMint, outMint] = isForwards ? market.mints : [market.mints[1], market.mints[0]];
  try {
    const quote = venue.quote(state, { mode, inMint, outMint, amount, clock: svm.clock() });
    const { inAmount, outAmount } = quote;
    const threshold =
      mode === "exactIn"
        ? outAmount - (outAmount * slippageBps) / 10_000n
        : inAmount + (inAmount * slippageBps) / 10_000n;
    const accountOf = (mint: Address) => associatedTokenAddress(wallet, mint, svm.get(mint)!.owner);
    const sides = { wallet, source: accountOf(inMint), destination: accountOf(outMint) };
    const leg = venue.swap(state, quote, { ...sides, threshold, salt: 0, exists: () => true });
    return { ...leg, quote, threshold };
  } catch (error) {
    if (error instanceof TradewireError) return undefined;
    throw error;
  }
}
