import type { HotMarket } from "../../../../market/port.ts";
import type { Address } from "../../../../primitives/address.ts";
import type { ChainClock } from "../../../../solana/account.ts";
import type { SwapMode } from "../../../../venues/venue.ts";
import { isAlive, isSameMoment } from "../../bounds/life.ts";
import { movesInLife, SMALL_PART, SMALLER_PART } from "../../bounds/market-rate.ts";
import { MarketCurve, type QuoteBudget, type SizeQuotes } from "./market-curve.ts";

/** Sizes between the small and the round one, as parts of it. */
const MIDDLE_PARTS = [16, 4, 2] as const;
/** Sizes tried if the small one buys no unit, as parts of the round one. */
const COARSE_PARTS = [16, 4, 2, 1] as const;
/**
 * Bisection steps between a size that a market takes and one that it refuses: at the first sampling, and if a trade comes near the limit.
 */
const LIMIT_STEPS = 3;
const FINE_LIMIT_STEPS = 9;
/** A limit known to within this share of what the market takes is exact enough. */
const LIMIT_ERROR = 1 / 2_048;
/** A trade that uses this share of what a market is known to take comes near the limit. */
const NEAR_LIMIT = 0.8;
/** How much more a market may take than its curve says. Fraction. */
const MOST_GROWN = 1 / 16;
/** Curves kept per market state: directions and sizes. */
const MOST_KEPT = 12;
/** How much less or more a market may give later for its quotes to serve at other moments too. Fraction. */
const MOST_MOVED = 1e-6;

/** The quotes of a market around one size, in one direction. */
interface KeptQuotes {
  readonly quotes: SizeQuotes;
  readonly clock: ChainClock;
  /** Undefined until they are asked for at another moment. */
  moves: boolean | undefined;
}

/** By market state, then by direction and size. */
const quotesByMarket = new WeakMap<HotMarket, Map<string, KeptQuotes>>();

/** A market's direction, to be sampled around a size. */
export interface CurveAsk {
  /** Of the trade. */
  readonly mode: SwapMode;
  readonly inMint: Address;
  readonly outMint: Address;
  /** See `roundSizeOf`. Base units. */
  readonly roundSize: number;
  readonly clock: ChainClock;
  /** See `MarketCurve`. */
  readonly sharesFees?: boolean;
}

/**
 * Starts a market's curve with its quote for the small size. Quotes are kept while the market does not change.
 *
 * @returns undefined if the market refuses the small size, or the budget is used up
 */
export function sampledCurve(hot: HotMarket, ask: CurveAsk, budget: QuoteBudget): MarketCurve | undefined {
  const { mode, inMint, outMint, roundSize, clock, sharesFees = false } = ask;
  const curve = new MarketCurve(hot, inMint, outMint, quotesOf(hot, ask), mode);
  curve.sharesFees = sharesFees;
  // The small size alone says nothing about what larger ones pay.
  if (sharesFees) for (const part of COARSE_PARTS) curve.sample(Math.floor(roundSize / part), clock, budget);
  const small = smallSizeOf(roundSize);
  if (curve.sample(small, clock, budget)) return curve;
  if (curve.refused === small) return curve.sample(Math.ceil(small / SMALLER_PART), clock, budget) ? curve : undefined;
  curve.isCoarse = true;
  return COARSE_PARTS.some((part) => curve.sample(Math.floor(roundSize / part), clock, budget)) ? curve : undefined;
}

/** What a curve gives for a unit of a small part. */
export function smallRateOf(curve: MarketCurve, roundSize: number): number {
  const size = curve.sharesFees ? Math.min(curve.most, smallSizeOf(roundSize)) : curve.most;
  return curve.out(size) / size;
}

/** The size that is quoted first. */
const smallSizeOf = (roundSize: number): number => Math.ceil(roundSize / SMALL_PART);

function quotesOf(hot: HotMarket, ask: CurveAsk): SizeQuotes {
  const { mode, inMint, roundSize, clock } = ask;
  let kept = quotesByMarket.get(hot);
  if (kept === undefined) {
    kept = new Map();
    quotesByMarket.set(hot, kept);
  }
  const key = `${mode} ${roundSize} ${inMint === hot.market.mints[0]}`;
  const known = kept.get(key);
  if (known !== undefined && serves(known, hot, ask)) return known.quotes;
  if (kept.size >= MOST_KEPT) kept.clear();
  const quotes: SizeQuotes = new Map();
  kept.set(key, { quotes, clock, moves: undefined });
  return quotes;
}

/** True if the quotes serve at the moment of the ask. */
function serves(known: KeptQuotes, hot: HotMarket, ask: CurveAsk): boolean {
  if (isSameMoment(known.clock, ask.clock)) return true;
  if (!isAlive(known.clock, ask.clock)) return false;
  known.moves ??= movesInLife(hot, { ...ask, clock: known.clock }, MOST_MOVED);
  return !known.moves;
}

/** Quotes the large sizes too, up to the round one; if the market refuses that, roughly the most that it takes. */
export function sampleWhole(curve: MarketCurve, roundSize: number, clock: ChainClock, budget: QuoteBudget): void {
  curve.sample(roundSize, clock, budget);
  for (const part of MIDDLE_PARTS) curve.sample(Math.floor(roundSize / part), clock, budget);
  narrowLimit(curve, LIMIT_STEPS, clock, budget);
}

/**
 * Quotes a curve around what a trade puts into it, at sizes that all trades of about the same size share.
 *
 * @returns true if the curve learned something
 */
export function sampleNear(curve: MarketCurve, input: number, clock: ChainClock, budget: QuoteBudget): boolean {
  const { learned } = curve;
  if (input > NEAR_LIMIT * curve.most) narrowLimit(curve, FINE_LIMIT_STEPS, clock, budget);
  const place = Math.log2(input) * SIZES_PER_OCTAVE;
  for (let step = Math.floor(place - AROUND); step <= Math.ceil(place + AROUND); step++) {
    const size = Math.floor(2 ** (step / SIZES_PER_OCTAVE));
    if (size < curve.refused) curve.sample(size, clock, budget);
  }
  for (let step = 0; step < BEND_STEPS; step++) {
    const size = curve.bendNear(input);
    if (size === undefined || !curve.sample(size, clock, budget)) break;
  }
  return curve.learned > learned;
}

interface HeldTerms extends Pick<CurveAsk, "roundSize" | "clock"> {
  readonly tolerance: number;
  readonly leastRate: number | undefined;
}

/**
 * The curve of a market that has changed, carried over to its new state. Undefined if it no longer holds: the market refuses one of three
 * sizes, or takes noticeably more than it did, or its output differs from the curve by more than the tolerance.
 *
 * @param tolerance fraction
 * @param leastRate what a market needs to give for a unit to have a part; undefined if this one has a part. Without one, it may give less
 *   by any amount, and more as long as it has none
 */
export function heldCurve(
  curve: MarketCurve,
  hot: HotMarket,
  { tolerance, leastRate, ...ask }: HeldTerms,
  budget: QuoteBudget,
): MarketCurve | undefined {
  const { mode, inMint, outMint, most } = curve;
  const { roundSize, clock } = ask;
  const quotes = quotesOf(hot, { ...ask, mode, inMint, outMint });
  const now = new MarketCurve(hot, inMint, outMint, quotes, mode);
  let mayHavePart = false;
  for (const size of [smallSizeOf(roundSize), Math.floor(roundSize / MIDDLE_PARTS[1]), roundSize]) {
    const held = Math.min(size, most);
    if (!now.sample(held, clock, budget)) return undefined;
    const out = now.out(held);
    if (leastRate !== undefined && out < held * leastRate) continue;
    mayHavePart = true;
    const change = out / curve.quotedOut(held) - 1;
    if (change > tolerance || (change < -tolerance && leastRate === undefined)) return undefined;
  }
  if (mayHavePart && takesMore(curve, now, ask, budget)) return undefined;
  return curve.copy(hot, quotes);
}

/** True if a market takes noticeably more of the round size now than it did. */
function takesMore(
  { most, refused }: MarketCurve,
  now: MarketCurve,
  { roundSize, clock }: Pick<CurveAsk, "roundSize" | "clock">,
  budget: QuoteBudget,
): boolean {
  if (refused === Number.POSITIVE_INFINITY) return false;
  const more = Math.min(roundSize, Math.max(refused, Math.ceil(most * (1 + MOST_GROWN))));
  return now.sample(more, clock, budget) && now.most >= more;
}

/** True if there is nothing more to find out about how much a market takes. */
export function isLimitKnown({ most, refused }: MarketCurve): boolean {
  return refused === Number.POSITIVE_INFINITY || refused - most <= most * LIMIT_ERROR;
}

/** Finds out more closely how much a market takes. @returns true if the curve learned something */
export function sampleLimit(curve: MarketCurve, clock: ChainClock, budget: QuoteBudget): boolean {
  const { most, refused } = curve;
  narrowLimit(curve, FINE_LIMIT_STEPS, clock, budget);
  return curve.most > most || curve.refused < refused;
}

/** Shared sizes while the input doubles. */
const SIZES_PER_OCTAVE = 2;
/**
 * If an input is this close to a shared size, the sizes on both sides are quoted: without them, a price that bends a little later seems to
 * bend at the shared size, and the search would stop there. Steps between shared sizes.
 */
const AROUND = 0.25;
/** Bisection steps around an input if prices bend there. */
const BEND_STEPS = 3;

function narrowLimit(curve: MarketCurve, steps: number, clock: ChainClock, budget: QuoteBudget): void {
  for (let step = 0; step < steps; step++) {
    if (isLimitKnown(curve)) return;
    curve.sample(Math.floor((curve.most + curve.refused) / 2), clock, budget);
  }
}
