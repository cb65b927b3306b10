import type { HotMarket, PairMarkets } from "../../../market/port.ts";
import { type Address, compareAddresses } from "../../../primitives/address.ts";
import {
  isLine,
  LINE_SIZE,
  leastIn,
  mostOut,
  type SpotBound,
  wholeLine,
  writeLine,
} from "../../../venues/spot-bound.ts";
import type { Ask } from "../../../venues/venue.ts";
import type { Leader } from "./leader.ts";
import { compareTied } from "./tied-markets.ts";

/** Up to this many markets without a bound are quoted each time; with more, the pair has no bounds. */
const MOST_UNKNOWN = 4;
/** Stands for an unknown bound. */
const UNKNOWN = wholeLine(Number.POSITIVE_INFINITY, 0);

/** The bounds of a pair's markets in one direction, in arrays: the market objects lie scattered in memory. */
export class PairSpots {
  #markets: readonly HotMarket[] = [];
  /** By place, the line of each. */
  #lines = new Float64Array(0);
  /** By place, what a small input gives at most for a unit. Infinity if unknown. */
  #rates = new Float64Array(0);
  #unknown = 0;
  /** Bound of each market for the last ask; higher is better. */
  #promises = new Float64Array(0);
  /** Places of the markets; those picked so far first, in order. */
  #order: number[] = [];
  #picked = 0;

  get markets(): readonly HotMarket[] {
    return this.#markets;
  }

  /** False if too many markets have no bound. */
  get isKnown(): boolean {
    return this.#unknown <= MOST_UNKNOWN;
  }

  /** The best of their bounds for a small input, for a unit of it. */
  get mostRate(): number {
    let most = 0;
    for (const rate of this.#rates) if (rate > most) most = rate;
    return most;
  }

  /** The bound of the market at the place for a small input, for a unit of it. Infinity if unknown. */
  rateAt(place: number): number {
    return this.#rates[place]!;
  }

  /** Takes in the markets that have changed. */
  renew(markets: readonly HotMarket[], inMint: Address): void {
    const before = this.#markets;
    if (before === markets) return;
    this.#markets = markets;
    const isAnother = before.length !== markets.length;
    if (isAnother) {
      this.#lines = new Float64Array(markets.length * LINE_SIZE);
      this.#rates = new Float64Array(markets.length);
      this.#promises = new Float64Array(markets.length);
      this.#order = markets.map((_, place) => place);
      this.#unknown = 0;
    }
    for (let place = 0; place < markets.length; place++) {
      const hot = markets[place]!;
      if (!isAnother && before[place] === hot) continue;
      if (!isAnother && this.#rates[place] === Number.POSITIVE_INFINITY) this.#unknown--;
      const spot = spotOf(hot);
      const line = hot.market.mints[0] === inMint ? spot?.from0 : spot?.from1;
      const known = line !== undefined && isLine(line) ? line : UNKNOWN;
      if (known === UNKNOWN) this.#unknown++;
      writeLine(this.#lines, place * LINE_SIZE, known, known === UNKNOWN ? 0 : spot!.rounding);
      this.#rates[place] = known.rate * known.kept;
    }
  }

  /** Bounds all markets for an ask. */
  bound({ mode, amount }: Ask): this {
    const size = Number(amount);
    const promises = this.#promises;
    const lines = this.#lines;
    const isExactIn = mode === "exactIn";
    for (let place = 0, at = 0; place < promises.length; place++, at += LINE_SIZE)
      promises[place] = isExactIn ? mostOut(lines, at, size) : -leastIn(lines, at, size);
    this.#picked = 0;
    return this;
  }

  /** The place of the market that comes `rank`-th by promise, from 0; of equals the one that wins a tie. Asked for in order. */
  pick(rank: number): number {
    const order = this.#order;
    if (rank < this.#picked) return order[rank]!;
    const promises = this.#promises;
    let best = rank;
    let most = promises[order[rank]!]!;
    for (let at = rank + 1; at < order.length; at++) {
      const promise = promises[order[at]!]!;
      if (promise < most || (promise === most && !this.#winsTie(order[at]!, order[best]!))) continue;
      best = at;
      most = promise;
    }
    const place = order[best]!;
    order[best] = order[rank]!;
    order[rank] = place;
    this.#picked = rank + 1;
    return place;
  }

  #winsTie(place: number, other: number): boolean {
    return compareTied(this.#markets[place]!, this.#markets[other]!) < 0;
  }

  /** True if neither the market at the place nor any that promises less beats the best so far. */
  endsAt(place: number, { mode }: Ask, { value: best }: Leader): boolean {
    return this.#promises[place]! < (mode === "exactIn" ? Number(best) : -Number(best));
  }

  /** True if the market at the place alone cannot come before the best: it gives no more, and loses the tie. */
  isBeaten(place: number, { mode }: Ask, { hot: leader, value: best }: Leader): boolean {
    const hot = this.#markets[place]!;
    if (mode !== "exactIn" || hot.venue.spot?.takesLess === true) return false;
    return this.#promises[place]! < Number(best + 1n) && compareTied(leader, hot) < 0;
  }
}

function spotOf(hot: HotMarket): SpotBound | undefined {
  try {
    return hot.spot;
  } catch {
    // Its quote gives the reason.
    return undefined;
  }
}

/** By line of the pair, or by the pair: of the lower mint for the higher, and the other way. */
const spotsByPair = new WeakMap<object, [PairSpots | undefined, PairSpots | undefined]>();

/** The bounds of a pair's markets in the direction of an ask; undefined if too few have one. Good until the next call for it. */
export function pairSpotsOf(
  pair: PairMarkets,
  { inMint, outMint }: Pick<Ask, "inMint" | "outMint">,
): PairSpots | undefined {
  const owner = pair.line ?? pair;
  let both = spotsByPair.get(owner);
  if (both === undefined) {
    both = [undefined, undefined];
    spotsByPair.set(owner, both);
  }
  const direction = compareAddresses(inMint, outMint) < 0 ? 0 : 1;
  const spots = both[direction] ?? new PairSpots();
  both[direction] = spots;
  spots.renew(pair.markets, inMint);
  return spots.isKnown ? spots : undefined;
}
