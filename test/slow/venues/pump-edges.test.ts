import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Address } from "../../../src/primitives/address.ts";
import { U64_MAX } from "../../../src/primitives/integer.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { SOL_MINT } from "../../../src/solana/programs.ts";
import { PUMP_PROGRAM } from "../../../src/venues/pump-fun/layout.ts";
import { pumpFun } from "../../../src/venues/pump-fun/venue.ts";
import { PUMP_SWAP_PROGRAM } from "../../../src/venues/pump-swap/layout.ts";
import { pumpSwap } from "../../../src/venues/pump-swap/venue.ts";
import { PUMP_FEE_PROGRAM } from "../../../src/venues/shared/pump-fees.ts";
import { runTrades, type TradePlan } from "../../conformance/trades.ts";
import { alwaysLean } from "../../support/lean-venue.ts";
import { Svm } from "../../support/svm.ts";
import { tradesOn } from "./support/builds.ts";
import { type PumpBuilds, pumpBuildsOf } from "./support/pump-builds.ts";
import { type FeeSchedules, type Rates, writeCoin, writePumpSettings } from "./support/pump-fun.ts";
import { writePumpPool, writePumpSwapSettings } from "./support/pump-swap.ts";
import { releaseRuntimes } from "./support/runtimes.ts";

/**
 * Coins with one token left and pools of one unit or of 2^61, every fee up to its cap, accounts of every age, and trades of any
 * size: where curves complete, virtual reserves fall below zero or leave 64 bits, and fees take everything.
 */
const BUILDS = pumpBuildsOf("pump_fun");
const SEEDS = 40;
const TRADES = 24;
const HELD = 1n << 62n;
const ACCOUNT_SIZES = [211, 243, 244, 245, 261, 270, 300];

beforeEach(() => void vi.stubEnv("VENUE_RUNS", undefined));
afterEach(() => void vi.unstubAllEnvs());

const edge = (random: Random, top: bigint): bigint =>
  random.pick([1n, 2n, 3n, 1_000n, 10n ** 6n, 10n ** 9n, top / 2n, top - 1n, top, random.magnitude(top)]);

function schedules(random: Random): FeeSchedules {
  const rates = (): Rates => [random.below(300n), random.below(300n), random.below(501n)];
  const tiers = [
    [0n, rates()],
    [random.magnitude(1n << 50n), rates()],
  ] as const;
  return { flat: rates(), tiers, stableTiers: [[0n, rates()]], exotic: rates() };
}

/** Settings that both programs have. */
const settings = (random: Random) => ({
  schedules: schedules(random),
  creatorFeeConfigurable: random.chance(0.5),
  buybackBps: random.pick([0n, 1n, 5_000n, 10_000n]),
});

type Place = Omit<TradePlan, "count" | "before" | "guards" | "shadow"> & { readonly held: (mint: Address) => bigint };

/** Trades there, and holds every one that the wallet can pay for to its quote, rent and bound. @returns how many it made */
function trade({ held, ...plan }: Place): number {
  const before: ReadonlyMap<Address, bigint>[] = [];
  const { a, b } = plan.pair!;
  const outcomes = runTrades({
    ...plan,
    count: TRADES,
    before: () => before.push(new Map([a, b].map((mint) => [mint, held(mint)]))),
    guards: false,
    shadow: false,
  });
  let made = 0;
  for (const [
    index,
    { quoted, executed, failure, rent, inMint, computeUnits, computeUnitBound },
  ] of outcomes.entries()) {
    if (quoted === undefined || quoted.inAmount > before[index]!.get(inMint)!) continue;
    made++;
    expect([index, executed, failure]).toEqual([index, quoted, undefined]);
    expect([index, rent.paid]).toEqual([index, rent.said]);
    expect([index, Math.max(computeUnits, computeUnitBound)]).toEqual([index, computeUnitBound]);
  }
  return made;
}

function onCurve(random: Random, build: PumpBuilds): Place {
  const svm = new Svm();
  svm.addProgram(PUMP_PROGRAM, build.fun);
  svm.addProgram(PUMP_FEE_PROGRAM, build.fees);
  writePumpSettings(svm, settings(random));
  const mint = svm.newMint({ decimals: 6, supply: 10n ** 15n });
  const wallet = svm.newWallet(1n << 60n);
  const realTokens = edge(random, 793_100_000_000_000n);
  const realQuote = edge(random, 1n << 45n);
  const market = writeCoin(svm, {
    mint,
    realTokens,
    realQuote,
    virtualTokens: realTokens + random.pick([1n, 1_000n, 279_900_000_000_000n, 1n << 55n, U64_MAX - realTokens]),
    virtualQuote: realQuote + random.pick([1n, 1_000n, 30_000_000_000n, 1n << 50n, U64_MAX - realQuote - (1n << 40n)]),
    ...(random.chance(0.8) ? { creator: svm.newAddress() } : {}),
    withoutVault: random.chance(0.5),
    creatorFeeBps: random.pick([0n, 1n, 500n]),
    cashback: random.chance(0.2),
  });
  svm.setTokens(wallet, mint, HELD);
  const limit = (side: Address) =>
    side === SOL_MINT ? random.pick([realQuote * 2n + 10n, 1n << 58n]) : random.pick([realTokens + 1n, 1n << 60n]);
  // What the wallet has beside the largest rents and fees.
  const held = (side: Address) => (side === SOL_MINT ? svm.lamports(wallet) - 10_000_000n : HELD / 4n);
  return { svm, venue: pumpFun, market, pair: { a: mint, b: SOL_MINT }, wallet, random, limit, held };
}

/** The same, where the program's older instructions know the trade. */
function onCurveByOlder(random: Random, build: PumpBuilds): Place {
  const place = onCurve(random, build);
  return { ...place, venue: alwaysLean(place.venue) };
}

function inPool(random: Random, build: PumpBuilds): Place {
  const svm = new Svm();
  svm.addProgram(PUMP_SWAP_PROGRAM, build.swap);
  svm.addProgram(PUMP_FEE_PROGRAM, build.fees);
  const quote = random.chance(0.5) ? SOL_MINT : svm.newMint({ decimals: 6 });
  writePumpSwapSettings(svm, { ...settings(random), quoteMint: quote });
  const base = svm.newMint({ decimals: 6, supply: 10n ** 15n });
  const wallet = svm.newWallet(1n << 60n);
  const baseAmount = edge(random, 1n << 61n);
  const quoteAmount = edge(random, quote === SOL_MINT ? 1n << 55n : 1n << 61n);
  const market = writePumpPool(svm, {
    base,
    quote,
    baseAmount,
    quoteAmount,
    ...(random.chance(0.5) ? { creator: svm.newAddress() } : {}),
    ...(random.chance(0.8) ? { coinCreator: svm.newAddress() } : {}),
    withoutVault: random.chance(0.5),
    cashback: random.chance(0.3),
    mayhem: random.chance(0.1),
    virtualQuote: random.pick([
      ...[0n, 1n, -(quoteAmount / 2n), 1n - quoteAmount, 1n << 40n, 1n << 62n],
      U64_MAX - quoteAmount,
      U64_MAX - quoteAmount + 1n,
    ]),
    creatorFeeBps: random.pick([0n, 1n, 500n]),
    size: random.pick(ACCOUNT_SIZES),
  });
  const accounts = new Map([
    [base, svm.setTokens(wallet, base, HELD)],
    [quote, svm.setTokens(wallet, quote, quote === SOL_MINT ? 1n << 57n : HELD)],
  ]);
  const limit = (side: Address) => random.pick([(side === base ? baseAmount : quoteAmount) * 2n + 3n, 1n << 56n]);
  const held = (side: Address) => svm.tokens(accounts.get(side)!);
  return { svm, venue: pumpSwap, market, pair: { a: base, b: quote }, wallet, random, limit, held };
}

describe.skipIf(BUILDS.length === 0).each(BUILDS)("Pump's programs at their edges ($path)", (build) => {
  const seeds = tradesOn(build, SEEDS);
  it.each([
    { name: "pump_fun", place: onCurve },
    { name: "pump_fun by its older instructions", place: onCurveByOlder },
    { name: "pump_swap", place: inPool },
  ])("$name is exact, and within its bound", async ({ name, place }) => {
    let made = 0;
    for (let seed = 1; seed <= seeds; seed++) {
      made += trade(place(createRandom(seed), build));
      await releaseRuntimes();
    }
    console.log(`${name}: ${made} trades`);
    expect(made).toBeGreaterThan(seeds);
  });
});
