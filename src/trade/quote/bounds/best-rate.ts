import type { HotMarket, PairMarkets } from "../../../market/port.ts";
import { compareAddresses } from "../../../primitives/address.ts";
import { isAlive, type Since } from "./life.ts";
import { lifelongRate, type RateAsk } from "./market-rate.ts";
import { type PairSpots, pairSpotsOf } from "./pair-spots.ts";
import { smallRatesOf } from "./small-rates.ts";

/** Up to this many markets, all of a pair are quoted: bounds would cost as much. */
const QUOTED_WHOLE = 4;
/** Sizes and directions kept per pair. */
const MOST_KEPT = 16;
/** By how much a rate may exceed the bound, because rounding can favour a small size. Fraction. */
const SLACK = 1e-5;

/** The best rate of a pair for a small size: markets are quoted in the order of their bounds, and not again until they change. */
class BestRate {
  /** Not after the oldest of the quotes. */
  readonly since: Since;
  #markets: readonly HotMarket[] = [];
  /** By place of the market; -1 if it was not quoted. */
  #rates = new Float64Array(0);

  constructor(since: Since) {
    this.since = since;
  }

  find(spots: PairSpots, ask: RateAsk): number {
    this.#renew(spots.markets);
    const rates = this.#rates;
    let best = 0;
    for (const rate of rates) if (rate > best) best = rate;
    for (;;) {
      let next = -1;
      let most = best;
      for (let place = 0; place < rates.length; place++) {
        if (rates[place]! >= 0 || spots.rateAt(place) * (1 + SLACK) <= most) continue;
        most = spots.rateAt(place) * (1 + SLACK);
        next = place;
      }
      if (next < 0) return best;
      const rate = lifelongRate(this.#markets[next]!, ask);
      rates[next] = rate;
      if (rate > best) best = rate;
    }
  }

  #renew(markets: readonly HotMarket[]): void {
    const before = this.#markets;
    if (before === markets) return;
    this.#markets = markets;
    if (before.length !== markets.length) {
      this.#rates = new Float64Array(markets.length).fill(-1);
      return;
    }
    for (let place = 0; place < markets.length; place++) {
      if (before[place] !== markets[place]) this.#rates[place] = -1;
    }
  }
}

/** By line of the pair, or by the pair; then by ask. */
const ratesByPair = new WeakMap<object, Map<number, BestRate>>();

/** The most that a market of a pair gives for a unit of a small size, see `lifelongRate`; 0 if every market refuses it. */
export function bestPairRate(pair: PairMarkets, ask: RateAsk): number {
  const spots = pair.markets.length > QUOTED_WHOLE ? pairSpotsOf(pair, ask) : undefined;
  if (spots === undefined) return smallRatesOf(pair, ask).best;
  const owner = pair.line ?? pair;
  let known = ratesByPair.get(owner);
  if (known === undefined) {
    known = new Map();
    ratesByPair.set(owner, known);
  }
  const direction = compareAddresses(ask.inMint, ask.outMint) < 0 ? 1 : 0;
  const key = Math.log2(ask.roundSize) * 4 + (ask.mode === "exactIn" ? 2 : 0) + direction;
  let kept = known.get(key);
  if (kept === undefined || !isAlive(kept.since, ask.clock)) {
    kept = new BestRate(ask.clock);
    known.delete(key);
    if (known.size >= MOST_KEPT) known.delete(known.keys().next().value!);
    known.set(key, kept);
  }
  return kept.find(spots, ask);
}

/** What the best market of a pair gives for a unit of any size, at most. Infinity if unknown. */
export function mostRateOf(pair: PairMarkets, ask: Pick<RateAsk, "inMint" | "outMint">): number {
  const spots = pair.markets.length > QUOTED_WHOLE ? pairSpotsOf(pair, ask) : undefined;
  return spots?.mostRate ?? Number.POSITIVE_INFINITY;
}
