import type { HotMarket, PairMarkets } from "../../../market/port.ts";
import type { Address } from "../../../primitives/address.ts";
import type { ChainClock } from "../../../solana/account.ts";
import type { SwapMode } from "../../../venues/venue.ts";
import type { Intent } from "../../intent.ts";
import { roundSizeOf, SMALL_PART } from "../bounds/market-rate.ts";
import type { Steps } from "../long-searches.ts";
import { rankMarkets } from "../ranking.ts";
import { hasCappedFee } from "./capped-fees.ts";
import type { MarketCurve, QuoteBudget } from "./curves/market-curve.ts";
import { type CurveAsk, sampledCurve, sampleWhole, smallRateOf } from "./curves/sampled-curves.ts";
import { type FlowEdge, type FlowNetwork, INPUT, OUTPUT } from "./flow/flow.ts";
import type { StepWork } from "./steps/step-work.ts";

/** Two mints of a trade, and the markets where the first can be given for the second. */
export interface MintCrossing {
  readonly from: Address;
  readonly to: Address;
  readonly pair: PairMarkets;
}

/** The mints of a trade by number (0 the input, 1 the output, hubs after), and the markets between them as curves. */
export interface CurveNetwork extends FlowNetwork {
  readonly addresses: readonly Address[];
  /** True if a market behind a hub may not take all that the best markets bring to it. */
  readonly isLimited: boolean;
  /** The most output that one unit of each mint gives: for a small part, along its best path. */
  readonly onwardRates: Float64Array;
  /** By crossing: a market whose price for a small part is worse than this has no part. 0 if any market may have one. */
  readonly leastRates: readonly number[];
}

/** How a network is sampled. */
export interface NetworkTerms {
  /** Approximate input. Base units. */
  readonly inAmount: number;
  readonly maxLegs: number;
  readonly clock: ChainClock;
  readonly budget: QuoteBudget;
}

/** Up to this many markets of a pair, all are sampled; with more, those that rank best at two sizes. */
const SAMPLED_ALWAYS = 48;
/** Markets of a pair in the network at most, beside those that take little. */
const MOST_OF_A_PAIR = 8;
/** Further ones at most, each of which takes less than a likely part of the trade, at a better price. */
const MOST_SMALLER = 4;
/** A market that takes part carries about this fraction of the whole (one over this number). */
const LIKELY_PATHS = 4;
/** A market is kept if its price is worse than that of the best market's last part by no more than this. Fraction. */
const TOLERANCE = 1e-9;

/** A pair of a trade, with the markets that have an output for a small part of the amount that may reach it. */
interface SampledCrossing {
  readonly from: number;
  readonly to: number;
  /** Estimate of the amount that may reach the pair. Base units. */
  readonly amount: number;
  /** The best price for a small part first. */
  readonly curves: readonly SampledCurve[];
}

interface SampledCurve {
  readonly curve: MarketCurve;
  /** Output for one unit of the small part that the market takes. */
  readonly rate: number;
}

/** Result of quoting a small part of a trade: the pairs that can carry it. */
export interface SmallTrades {
  readonly addresses: readonly Address[];
  readonly crossings: readonly SampledCrossing[];
  /** The markets whose quotes may depend on time, and those that refuse the small part, as they may not later. */
  readonly timed: readonly TimedMarket[];
}

/** A market of a pair, and the small part that was asked for. */
export interface TimedMarket {
  readonly hot: HotMarket;
  readonly ask: CurveAsk;
  /** True if it refused that part. */
  readonly isRefused: boolean;
}

/**
 * Quotes a small part of a trade on every market that it may use.
 *
 * @param crossings the pairs of the trade; those that start at the input first, those that end at the output last
 */
export function sampleSmall(intent: Intent, crossings: readonly MintCrossing[], terms: NetworkTerms): SmallTrades {
  const { inAmount } = terms;
  const addresses: Address[] = [intent.inMint.address, intent.outMint.address];
  const arriving = new Map<Address, number>([[intent.inMint.address, inAmount]]);
  const sampled: SampledCrossing[] = [];
  const timed: TimedMarket[] = [];
  for (const { from, to, pair } of crossings) {
    const amount = arriving.get(from) ?? 0;
    if (pair.markets.length === 0 || amount < 1) continue;
    const curves = sampleCrossing(intent, { from, to, pair }, amount, terms, timed);
    if (curves.length === 0) continue;
    if (!addresses.includes(to)) addresses.push(to);
    // Several markets may give what one cannot: as much as the best price of all gives. Even a fraction of a unit may round to a whole one.
    const most = amount * curves[0]!.rate;
    arriving.set(to, Math.max(arriving.get(to) ?? 0, intent.mode === "exactIn" ? Math.ceil(most) : Math.floor(most)));
    sampled.push({ from: addresses.indexOf(from), to: addresses.indexOf(to), amount, curves });
  }
  return { addresses, crossings: sampled, timed };
}

/** The markets of a pair that have an output for a small part of the amount, best price first. @param timed is added to */
function sampleCrossing(
  intent: Intent,
  crossing: MintCrossing,
  amount: number,
  { clock, budget }: NetworkTerms,
  timed: TimedMarket[],
): SampledCrossing["curves"] {
  const roundSize = roundSizeOf(amount);
  const sharesFees = hasCappedFee(intent, clock);
  const ask = { mode: intent.mode, inMint: crossing.from, outMint: crossing.to, roundSize, clock, sharesFees };
  const sampled: SampledCurve[] = [];
  for (const hot of candidatesOf(intent, crossing, amount, clock)) {
    if (!canServe(hot, intent.mode)) continue;
    // With the budget used up, nothing is asked: the plan does not depend on the market.
    if (budget.left <= 0) break;
    const curve = sampledCurve(hot, ask, budget);
    const isRefused = curve === undefined;
    if (isRefused || hot.isTimeless !== true) timed.push({ hot, ask, isRefused });
    if (curve !== undefined) sampled.push({ curve, rate: smallRateOf(curve, roundSize) });
  }
  return sampled.sort((a, b) => b.rate - a.rate);
}

/**
 * The markets that could have a part in a split, quoted up to the whole amount. A market is left out if its price for a small part is worse
 * than the one that the best market of the pair gives for the last part of the whole amount. On the way to a hub whose later markets cannot
 * take everything, none is left out, because the best price delivers too much for them.
 */
export function* sampleNetwork(
  { addresses, crossings }: SmallTrades,
  { clock, budget, work }: NetworkTerms & { readonly work: StepWork },
): Steps<CurveNetwork> {
  const isLimited = new Uint8Array(addresses.length);
  const onwardRates = new Float64Array(addresses.length);
  onwardRates[OUTPUT] = 1;
  const pairs: FlowEdge[][] = [];
  const leastRates: number[] = [];
  let unsampled = crossings.reduce((sum, { curves }) => sum + curves.length, 0);
  // Markets behind a hub before those that lead to it.
  for (const { from, to, amount, curves } of crossings.toReversed()) {
    const roundSize = roundSizeOf(amount);
    const kept: MarketCurve[] = [];
    let last = 0;
    for (const [place, { curve, rate }] of curves.entries()) {
      // Its price for the first part is worse than the best market's for the last part of the whole amount.
      if (isLimited[to] === 0 && !curve.sharesFees && rate < last * (1 - TOLERANCE)) break;
      // Share the remaining quotes evenly: the entries come last and matter most.
      const left = Math.ceil(budget.left / (unsampled - place));
      const part = { left };
      budget.left -= left;
      sampleWhole(curve, roundSize, clock, part);
      budget.left += part.left;
      work.quotes(left - part.left);
      yield* work.pause();
      kept.push(curve);
      last = Math.max(last, lastRateOf(curve, amount, roundSize / SMALL_PART));
      const mayRefuse = curve.most < amount && curve.refused < Number.POSITIVE_INFINITY;
      if (from !== INPUT && (mayRefuse || isLimited[to] === 1)) isLimited[from] = 1;
    }
    unsampled -= curves.length;
    onwardRates[from] = Math.max(onwardRates[from]!, curves[0]!.rate * onwardRates[to]!);
    const share = amount / LIKELY_PATHS;
    let least = isLimited[to] === 1 ? 0 : last * (1 - TOLERANCE);
    if (kept.length > MOST_OF_A_PAIR) {
      const others = kept.sort((a, b) => b.out(share) - a.out(share)).splice(MOST_OF_A_PAIR);
      const worst = rateOf(kept.at(-1)!, share);
      least = Math.max(least, worst);
      kept.push(...smallerBest(others, share, worst));
    }
    // Rates that improve with size bound nothing.
    leastRates.push(kept.some(({ sharesFees }) => sharesFees) ? 0 : least);
    pairs.push(kept.map((curve) => ({ from, to, curve })));
  }
  const edges = pairs.toReversed().flat();
  return {
    mints: addresses.length,
    addresses,
    edges,
    isLimited: isLimited.includes(1),
    onwardRates,
    leastRates: leastRates.reverse(),
  };
}

/** What a market gives per unit of a share of the trade, or of as much of it as it takes. */
const rateOf = (curve: MarketCurve, share: number) => curve.out(share) / Math.min(share, curve.most);

/** Markets that do not take all of a share, but give so much more per unit than the worst one that does that they may carry a part. */
function smallerBest(others: readonly MarketCurve[], share: number, worst: number): readonly MarketCurve[] {
  const gain = (curve: MarketCurve) => curve.out(share) - Math.min(share, curve.most) * worst;
  return others
    .filter((curve) => curve.most < share && gain(curve) > 0)
    .sort((a, b) => gain(b) - gain(a))
    .slice(0, MOST_SMALLER);
}

const canServe = ({ venue }: HotMarket, mode: SwapMode) => mode === "exactIn" || venue.supports.exactOut;

/** What a market gives per unit of the last small part of the whole amount; 0 if it cannot take the whole. */
function lastRateOf(curve: MarketCurve, all: number, part: number): number {
  return curve.most < all ? 0 : (curve.out(all) - curve.out(all - part)) / part;
}

function candidatesOf(
  { inMint, outMint }: Intent,
  { from, to, pair }: MintCrossing,
  amount: number,
  clock: ChainClock,
): readonly HotMarket[] {
  if (pair.markets.length <= SAMPLED_ALWAYS) return pair.markets;
  const isTaxed = inMint.transferFees !== undefined || outMint.transferFees !== undefined;
  const ranked = [amount / SMALL_PART, amount / LIKELY_PATHS].flatMap((part) =>
    rankMarkets(pair, { mode: "exactIn", inMint: from, outMint: to, amount: BigInt(Math.ceil(part)), clock }, isTaxed)
      .candidates.slice(0, MOST_OF_A_PAIR)
      .map(({ hot }) => hot),
  );
  return [...new Set(ranked)];
}
