import type { HotMarket } from "../../../market/port.ts";
import type { Address } from "../../../primitives/address.ts";
import type { ChainClock } from "../../../solana/account.ts";
import { MarketCurve, type QuoteBudget } from "./market-curve.ts";

/** The small size that is quoted first, as a part of the round size. */
export const SMALL_PART = 64;
/** Sizes between the small and the round one. */
const MIDDLE_PARTS = [16n, 4n, 2n] as const;
/** Halvings between what a market takes and what it refuses. */
const LIMIT_STEPS = 5;
/** Curves kept per market state: directions and sizes. */
const MOST_KEPT = 12;
/** Slots for which a curve serves while the market's accounts do not change: fees may depend on time. */
const LIFE_SLOTS = 25n;

/** A market's curve, and what it gives for the small size. Not to be taught: others use it too. */
export interface SampledCurve {
  readonly curve: MarketCurve;
  readonly smallOut: number;
}

interface KeptCurve extends SampledCurve {
  /** True once the large sizes are quoted too. */
  isWhole: boolean;
  readonly slot: bigint;
}

/** By market state, then by direction and size. */
const curvesByMarket = new WeakMap<HotMarket, Map<string, KeptCurve>>();

/** Sizes are sampled at powers of two, so that trades of about the same size share the quotes. */
export const roundSizeOf = (amount: number): number => 2 ** Math.ceil(Math.log2(amount));

/** A market's direction, to be sampled around a size. */
export interface CurveAsk {
  readonly inMint: Address;
  readonly outMint: Address;
  /** See `roundSizeOf`. Base units. */
  readonly roundSize: number;
  readonly clock: ChainClock;
}

/**
 * The start of a market's curve: what it gives for the small size. Kept while the market does not change.
 *
 * @returns undefined if the market refuses the small size, or the budget does not reach
 */
export function sampledCurve(hot: HotMarket, ask: CurveAsk, budget: QuoteBudget): SampledCurve | undefined {
  const { inMint, outMint, roundSize, clock } = ask;
  let curves = curvesByMarket.get(hot);
  if (curves === undefined) {
    curves = new Map();
    curvesByMarket.set(hot, curves);
  }
  const key = `${roundSize} ${inMint === hot.market.mints[0]}`;
  let kept = curves.get(key);
  if (kept === undefined || clock.slot - kept.slot > LIFE_SLOTS) {
    if (budget.left <= 0) return undefined;
    const curve = new MarketCurve(hot, inMint, outMint);
    const small = Math.ceil(roundSize / SMALL_PART);
    curve.sample(BigInt(small), clock, budget);
    kept = { curve, smallOut: curve.most > 0 ? curve.out(small) : 0, isWhole: false, slot: clock.slot };
    if (curves.size >= MOST_KEPT) curves.clear();
    curves.set(key, kept);
  }
  return kept.smallOut > 0 ? kept : undefined;
}

/** Quotes the large sizes too, up to the round one. */
export function sampleWhole(sampled: SampledCurve, ask: CurveAsk, budget: QuoteBudget): void {
  const kept = sampled as KeptCurve;
  if (kept.isWhole || budget.left <= 0) return;
  kept.isWhole = true;
  sampleLarge(kept.curve, BigInt(ask.roundSize), ask.clock, budget);
}

/** Samples the round size; if the market refuses it, the most that it takes, roughly. */
function sampleLarge(curve: MarketCurve, whole: bigint, clock: ChainClock, budget: QuoteBudget): void {
  for (const part of MIDDLE_PARTS) curve.sample(whole / part, clock, budget);
  if (curve.sample(whole, clock, budget)) return;
  let refused = whole;
  for (let step = 0; step < LIMIT_STEPS; step++) {
    const size = (BigInt(Math.floor(curve.most)) + refused) / 2n;
    if (!curve.sample(size, clock, budget)) refused = size;
  }
}
