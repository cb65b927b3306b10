import { TradewireError } from "../../errors/tradewire-error.ts";
import type { HotMarket, MarketFault, PairMarkets } from "../../market/port.ts";
import type { Ask, Quote } from "../../venues/venue.ts";
import type { Leader } from "./bounds/leader.ts";
import { type LoneBounds, loneBoundsOf } from "./bounds/lone-bounds.ts";
import { type PairSpots, pairSpotsOf } from "./bounds/pair-spots.ts";
import { compareTied } from "./bounds/tied-markets.ts";
import { type MarketBounds, marketBoundsOf } from "./market-bounds.ts";

/** One market's answer to an ask. */
export interface Candidate {
  readonly hot: HotMarket;
  readonly quote: Quote;
}

/** The markets that can fill an ask, best first, and why the others cannot. */
interface Ranking {
  readonly candidates: readonly Candidate[];
  readonly refusals: readonly TradewireError[];
  readonly faults: readonly MarketFault[];
}

/** Up to this many markets are always priced, unless only the best one counts; beyond that, bounds decide which. */
const PRICED_ALWAYS = 4;

/**
 * Prices the markets of a pair. Pairs may have many markets, most of them dead, and must still be fast: output never falls
 * as input grows, and the rate never improves, so a market's output at the round sizes around the asked one bounds what it
 * can do. Markets are priced in the order of their bounds until no other can beat the best: see `LoneBounds`, `MarketBounds`.
 *
 * @param isTaxed whether a mint withholds transfer fees: capped fees make rates improve with size
 * @param least number of markets to price beside the best one, in the order of their bounds, if a pair has more
 * @param above only the most promising markets that may be better than this are priced, its own not again
 */
export function rankMarkets(
  pair: PairMarkets,
  ask: Ask,
  isTaxed: boolean,
  least: number = PRICED_ALWAYS,
  above?: Leader,
): Ranking {
  const candidates: Candidate[] = [];
  const refusals: TradewireError[] = [];
  const faults: MarketFault[] = [...pair.faults];
  const bounds = boundsFor(pair, ask, isTaxed, least);
  let leader = above;
  let best: Candidate | undefined;
  for (let index = 0; index < pair.markets.length; index++) {
    const place = bounds?.pick(index) ?? index;
    const hot = pair.markets[place]!;
    if (hot === above?.hot) continue;
    if (above !== undefined && candidates.length === PRICED_ALWAYS) break;
    if (bounds !== undefined && leader !== undefined && index >= least) {
      if (bounds.endsAt(place, ask, leader)) break;
      if (bounds.isBeaten(place, ask, leader)) continue;
    }
    try {
      const quote = hot.venue.quote(hot.state, ask);
      const candidate = { hot, quote };
      candidates.push(candidate);
      if (best === undefined || compareCandidates(candidate, best) < 0) {
        best = candidate;
        leader = above ?? { hot, value: ask.mode === "exactIn" ? quote.outAmount : quote.inAmount };
      }
    } catch (error) {
      // If one market's state breaks its formulas, that is no reason to refuse a trade on the others.
      const isRefusal = error instanceof TradewireError;
      if (isRefusal) refusals.push(error);
      else hot.failed?.(error);
      const reason = isRefusal ? error.message : "cannot be priced";
      faults.push({ venue: hot.venue.id, market: hot.market.address.toString(), reason });
    }
  }
  if (candidates.length > 1) candidates.sort(compareCandidates);
  return { candidates, refusals, faults };
}

function boundsFor(
  pair: PairMarkets,
  ask: Ask,
  isTaxed: boolean,
  least: number,
): PairSpots | LoneBounds | MarketBounds | undefined {
  const isSmall = pair.markets.length <= PRICED_ALWAYS;
  if (isSmall && least > 0) return undefined;
  // Spot bounds ignore transfer fees: they hold, but not closely.
  const spots = isTaxed ? undefined : pairSpotsOf(pair, ask)?.bound(ask);
  if (spots !== undefined || isSmall) return spots;
  const isLone = least <= 1 && ask.mode === "exactIn" && !isTaxed;
  return (isLone ? loneBoundsOf(pair, ask) : undefined) ?? marketBoundsOf(pair, ask, isTaxed);
}

/** Best first: more output, then less input, then venue name, then market address. A total order. */
export function compareCandidates(a: Candidate, b: Candidate): number {
  if (a.quote.mode === "exactOut" && a.quote.inAmount !== b.quote.inAmount) {
    return a.quote.inAmount < b.quote.inAmount ? -1 : 1;
  }
  if (a.quote.outAmount !== b.quote.outAmount) return a.quote.outAmount > b.quote.outAmount ? -1 : 1;
  if (a.quote.inAmount !== b.quote.inAmount) return a.quote.inAmount < b.quote.inAmount ? -1 : 1;
  return compareTied(a.hot, b.hot);
}
