import type { PairMarkets } from "../../../market/port.ts";
import type { ChainClock } from "../../../solana/account.ts";
import type { Ask } from "../../../venues/venue.ts";
import type { Leader } from "./leader.ts";
import { isSameMoment } from "./life.ts";
import { type MarketRate, roundSizeOf, SMALL_PART } from "./market-rate.ts";
import { type SmallRates, smallRatesOf } from "./small-rates.ts";

/** Below this round size, rounding is too large a part of the small size to bound trades by it. Base units. */
const LEAST_ROUND_SIZE = 4_096 * SMALL_PART;
/** Markets picked one by one; beyond that the rest is sorted. */
const MOST_PICKED = 16;

/**
 * Finds which markets of a pair may be the best for an exact input, if only the best one counts: by prices for a small part, and by tighter
 * bounds for markets that keep coming close.
 */
export class LoneBounds {
  /** The moment at which the bounds hold; later they hold only if all of them last. */
  #clock: ChainClock;
  #lasts = true;
  #rates: readonly MarketRate[];
  /** Bound of each market, in one array: the rate objects lie scattered in memory. */
  readonly #mosts: Float64Array;
  /** By place: 1 if the market's bound holds for the rest of its rate's life. */
  readonly #lasting: Uint8Array;
  /** Places of the markets; the first `#picked` of them in order, most promising first. */
  readonly #order: number[];
  #picked = 0;

  constructor({ rates }: SmallRates, clock: ChainClock) {
    this.#clock = clock;
    this.#rates = rates;
    this.#mosts = new Float64Array(rates.length);
    this.#lasting = new Uint8Array(rates.length);
    this.#order = rates.map((_, place) => place);
    for (let place = 0; place < rates.length; place++) this.#bound(place, clock);
    this.#lasts = !this.#lasting.includes(0);
  }

  /** Bounds by the next rates of the same series: only changed markets are bounded again, if the other bounds still hold. */
  renew({ rates }: SmallRates, clock: ChainClock): void {
    const before = this.#rates;
    const isHeld = this.#lasts || isSameMoment(clock, this.#clock);
    if (isHeld && before === rates) return;
    this.#clock = clock;
    this.#rates = rates;
    this.#picked = 0;
    for (let place = 0; place < rates.length; place++) {
      this.#order[place] = place;
      if (!isHeld || before[place] !== rates[place]) this.#bound(place, clock);
    }
    this.#lasts = !this.#lasting.includes(0);
  }

  #bound(place: number, clock: ChainClock): void {
    const rate = this.#rates[place]!;
    this.#mosts[place] = rate.mostAt(clock);
    this.#lasting[place] = rate.lasts ? 1 : 0;
  }

  /** The place of the market that comes `rank`-th by promise, from 0. Asked for in order. */
  pick(rank: number): number {
    const order = this.#order;
    if (rank < this.#picked) return order[rank]!;
    const mosts = this.#mosts;
    if (rank >= MOST_PICKED) {
      const rest = order.splice(rank).sort((a, b) => byPromise(mosts, a, b));
      for (const place of rest) order.push(place);
      this.#picked = order.length;
      return order[rank]!;
    }
    let best = rank;
    for (let at = rank + 1; at < order.length; at++) {
      if (mosts[order[at]!]! > mosts[order[best]!]!) best = at;
    }
    const place = order[best]!;
    order[best] = order[rank]!;
    order[rank] = place;
    this.#picked = rank + 1;
    return place;
  }

  /** True if neither the market at the place nor any that promises less beats the best so far. */
  endsAt(place: number, { amount }: Ask, { value: best }: Leader): boolean {
    return this.#mosts[place]! * Number(amount) < Number(best);
  }

  /** True if the market at the place alone cannot beat the best. */
  isBeaten(place: number, { amount, clock }: Ask, { value: best }: Leader): boolean {
    return this.#rates[place]!.isBeaten(Number(amount), Number(best), clock);
  }
}

function byPromise(mosts: Float64Array, a: number, b: number): number {
  const [left, right] = [mosts[a]!, mosts[b]!];
  return left === right ? a - b : left > right ? -1 : 1;
}

const boundsBySeries = new WeakMap<object, LoneBounds>();

/**
 * The bounds of a pair for an exact input of mints without transfer fees, until the next call for the same pair, direction and size;
 * undefined if the amount is too small for them.
 */
export function loneBoundsOf(pair: PairMarkets, { mode, inMint, outMint, amount, clock }: Ask): LoneBounds | undefined {
  const roundSize = roundSizeOf(Number(amount));
  if (roundSize < LEAST_ROUND_SIZE) return undefined;
  const rates = smallRatesOf(pair, { mode, inMint, outMint, roundSize, clock });
  let bounds = boundsBySeries.get(rates.series);
  if (bounds === undefined) {
    bounds = new LoneBounds(rates, clock);
    boundsBySeries.set(rates.series, bounds);
  } else bounds.renew(rates, clock);
  return bounds;
}
