import { TradewireError } from "../../errors/tradewire-error.ts";
import type { HotMarket, PairMarkets } from "../../market/port.ts";
import { compareAddresses } from "../../primitives/address.ts";
import type { Ask } from "../../venues/venue.ts";
import type { Leader } from "./bounds/leader.ts";
import { endOfLife, isAlive, type Since } from "./bounds/life.ts";

/** Bounds are taken at powers of four; an ask lies between two of them. */
const SIZE_STEP_BITS = 2;
/**
 * A market is skipped only if it is worse by more than this: bounds are taken at two moments, not at every one between. The smaller one
 * covers only rounding, for markets that give the same at both: fees never rise with time. Fractions.
 */
const TIMED_SLACK = 1e-3;
const TIMELESS_SLACK = 1e-6;
/** Below this size rounding is a noticeable part of a trade. */
const LEAST_PROPORTIONAL = 1n << 16n;
/** Base units of output that rounding may cost. */
const ROUNDING = 8;
/** Markets picked one by one; beyond that the rest is sorted. */
const MOST_PICKED = 16;

/**
 * How good a market may be for an ask; higher is better. exactIn: the output; exactOut: the negated input; base units. Infinity: unknown.
 * -Infinity: it cannot fill the ask.
 */
type Worth = number;

/** What the markets of a pair, by place, can do at the round sizes around the asked one: bounds for the asked size. */
export class MarketBounds {
  /** When the oldest of them was taken. */
  readonly since: Since;
  /** At the round size at or below the asked one. */
  readonly #below: Float64Array;
  /** At the round size above. exactOut: unbounded. */
  readonly #above: Float64Array;
  readonly #slack: Float64Array;
  /** The round size at or below the asked one, if no larger size has a better rate. */
  readonly #size: number | undefined;
  readonly #isExactIn: boolean;
  readonly #markets: readonly HotMarket[];
  /** Places of the markets; the first `#picked` of them in order, most promising first. */
  readonly #order: number[] = [];
  #picked = 0;

  /** @param earlier bounds for the same ask, still alive: those of markets that have not changed since are taken over */
  constructor({ markets }: PairMarkets, ask: Ask, step: number, isTaxed: boolean, earlier?: MarketBounds) {
    const size = 1n << BigInt(step * SIZE_STEP_BITS);
    this.#isExactIn = ask.mode === "exactIn";
    this.#size = !isTaxed && size >= LEAST_PROPORTIONAL ? Number(size) : undefined;
    this.#markets = markets;
    const kept = earlier !== undefined && earlier.#markets.length === markets.length ? earlier : undefined;
    this.#below = kept === undefined ? new Float64Array(markets.length) : kept.#below.slice();
    this.#above = kept === undefined ? new Float64Array(markets.length) : kept.#above.slice();
    this.#slack = kept === undefined ? new Float64Array(markets.length) : kept.#slack.slice();
    let since: Since = kept?.since ?? ask.clock;
    for (let place = 0; place < markets.length; place++) {
      this.#order.push(place);
      if (kept !== undefined && kept.#markets[place] === markets[place]) continue;
      const reach = reachOf(markets[place]!, ask, step);
      if (reach.since.slot < since.slot) since = reach.since;
      this.#below[place] = reach.below;
      this.#above[place] = reach.above;
      this.#slack[place] = reach.slack;
    }
    this.since = since;
  }

  /** The place of the market that comes `rank`-th by promise, from 0. Asked for in order. */
  pick(rank: number): number {
    const order = this.#order;
    if (rank < this.#picked) return order[rank]!;
    const leading = this.#isExactIn && this.#size === undefined ? this.#above : this.#below;
    if (rank >= MOST_PICKED) {
      const rest = order.splice(rank).sort((a, b) => leading[b]! - leading[a]! || a - b);
      for (const place of rest) order.push(place);
      this.#picked = order.length;
      return order[rank]!;
    }
    let best = rank;
    for (let at = rank + 1; at < order.length; at++) if (leading[order[at]!]! > leading[order[best]!]!) best = at;
    const place = order[best]!;
    order[best] = order[rank]!;
    order[rank] = place;
    this.#picked = rank + 1;
    return place;
  }

  /** True if neither the market at the place nor any that promises less beats the best so far. */
  endsAt(place: number, { amount }: Ask, { value: best }: Leader): boolean {
    const size = this.#size;
    const leading = this.#isExactIn && size === undefined ? this.#above : this.#below;
    // The rate never improves with size.
    const scale = size === undefined ? 1 : Number(amount) / size;
    const rounding = size === undefined ? 0 : ROUNDING;
    return isBeaten((leading[place]! + rounding) * scale, TIMED_SLACK, this.#worth(best));
  }

  /** True if the market at the place alone cannot beat the best. */
  isBeaten(place: number, { amount }: Ask, { value: best }: Leader): boolean {
    const slack = this.#slack[place]!;
    const least = this.#worth(best);
    if (isBeaten(this.#above[place]!, slack, least)) return true;
    const size = this.#size;
    return size !== undefined && isBeaten(((this.#below[place]! + ROUNDING) * Number(amount)) / size, slack, least);
  }

  #worth(amount: bigint): Worth {
    return this.#isExactIn ? Number(amount) : -Number(amount);
  }
}

function isBeaten(worth: Worth, slack: number, best: Worth): boolean {
  return worth === Number.NEGATIVE_INFINITY || worth + Math.abs(worth) * slack < best;
}

/** By the state of the pair, then by ask. */
const boundsByPair = new WeakMap<PairMarkets, Map<number, MarketBounds>>();

/** The last bounds of a pair in whatever state, by ask. */
const lastByLine = new WeakMap<object, Map<number, MarketBounds>>();
/** Asks whose last bounds are kept: traffic on a pair has few sizes at a time. */
const MAX_KEPT = 16;

/**
 * The bounds of a pair's markets for an ask. Kept while none of them changes; after a change, those of the others are.
 *
 * @param isTaxed whether a mint withholds transfer fees: capped fees make rates improve with size
 */
export function marketBoundsOf(pair: PairMarkets, ask: Ask, isTaxed: boolean): MarketBounds {
  const step = stepOf(ask.amount);
  const key = keyOf(ask, step) * 2 + (isTaxed ? 1 : 0);
  let known = boundsByPair.get(pair);
  if (known === undefined) {
    known = new Map();
    boundsByPair.set(pair, known);
  }
  const kept = known.get(key);
  if (kept !== undefined && isAlive(kept.since, ask.clock)) return kept;
  const last = lastOf(pair);
  const earlier = last?.get(key);
  const kin = earlier !== undefined && isAlive(earlier.since, ask.clock) ? earlier : undefined;
  const bounds = new MarketBounds(pair, ask, step, isTaxed, kin);
  known.set(key, bounds);
  if (last !== undefined) {
    last.delete(key);
    if (last.size >= MAX_KEPT) last.delete(last.keys().next().value!);
    last.set(key, bounds);
  }
  return bounds;
}

function lastOf({ line }: PairMarkets): Map<number, MarketBounds> | undefined {
  if (line === undefined) return undefined;
  let last = lastByLine.get(line);
  if (last === undefined) {
    last = new Map();
    lastByLine.set(line, last);
  }
  return last;
}

/** The exponent of the largest power of four that is at most the amount. */
function stepOf(amount: bigint): number {
  const high = Number(amount >> 32n);
  const bits =
    high === 0
      ? 31 - Math.clz32(Number(amount))
      : high < 2 ** 32
        ? 63 - Math.clz32(high)
        : amount.toString(2).length - 1;
  return Math.floor(bits / SIZE_STEP_BITS);
}

/** Equal for asks of one mode, direction and round size. Each venue names a market's mints in an order of its own. */
function keyOf({ mode, inMint, outMint }: Ask, step: number): number {
  return step * 4 + (mode === "exactIn" ? 2 : 0) + (compareAddresses(inMint, outMint) < 0 ? 1 : 0);
}

/** A market's bounds at the round sizes around an ask. */
interface Reach {
  readonly below: Worth;
  readonly above: Worth;
  /** By how much the market may exceed both bounds. Fraction. */
  readonly slack: number;
  readonly since: Since;
}

/** By market state, then by ask. */
const reachByMarket = new WeakMap<HotMarket, Map<number, Reach>>();

/** Bounds of a market: the better of now and the end of their lifetime, since time-dependent fees fall meanwhile. */
function reachOf(hot: HotMarket, ask: Ask, step: number): Reach {
  const key = keyOf(ask, step);
  let known = reachByMarket.get(hot);
  if (known === undefined) {
    known = new Map();
    reachByMarket.set(hot, known);
  }
  const kept = known.get(key);
  if (kept !== undefined && isAlive(kept.since, ask.clock)) return kept;
  const isExactIn = ask.mode === "exactIn";
  const below = worthsAround(hot, ask, step, "below");
  // Refused at the smaller size, so at the larger one too.
  const above =
    !isExactIn || below.best === Number.NEGATIVE_INFINITY ? undefined : worthsAround(hot, ask, step + 1, "above");
  const isTimeless = below.isTimeless && above?.isTimeless !== false;
  const reach = {
    below: below.best,
    above: above?.best ?? (isExactIn ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY),
    slack: isTimeless ? TIMELESS_SLACK : TIMED_SLACK,
    since: ask.clock,
  };
  known.set(key, reach);
  return reach;
}

/** The better of now and of the end of a bound's lifetime, and whether both are the same. */
function worthsAround(hot: HotMarket, ask: Ask, step: number, side: "below" | "above") {
  const now = { ...ask, amount: 1n << BigInt(step * SIZE_STEP_BITS), amountsOnly: true };
  const a = worthOf(hot, now, side);
  // Zero and the infinities stand for refusals, which may be temporary.
  const isSame = a !== 0 && Number.isFinite(a) && hot.isTimeless === true;
  const b = isSame ? a : worthOf(hot, { ...now, clock: endOfLife(ask.clock) }, side);
  return { best: Math.max(a, b), isTimeless: a === b };
}

function worthOf(hot: HotMarket, ask: Ask, side: "below" | "above"): Worth {
  try {
    const quote = hot.venue.quote(hot.state, ask);
    return Number(ask.mode === "exactIn" ? quote.outAmount : -quote.inAmount);
  } catch (error) {
    if (!(error instanceof TradewireError)) {
      hot.failed?.(error);
      return Number.NEGATIVE_INFINITY;
    }
    // Too large proves nothing for smaller amounts; too small proves nothing for larger ones, except next to no output if the
    // amount is not small in itself. Anything else is refused at every size.
    if (side === "above")
      return error.code === "INSUFFICIENT_LIQUIDITY" ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    if (error.code !== "VALIDATION_ERROR") return Number.NEGATIVE_INFINITY;
    return ask.mode === "exactIn" && ask.amount >= LEAST_PROPORTIONAL ? 0 : Number.POSITIVE_INFINITY;
  }
}
