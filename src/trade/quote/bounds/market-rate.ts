import { TradewireError } from "../../../errors/tradewire-error.ts";
import type { HotMarket } from "../../../market/port.ts";
import type { Address } from "../../../primitives/address.ts";
import type { ChainClock } from "../../../solana/account.ts";
import type { SwapMode } from "../../../venues/venue.ts";
import { endOfLife, isSameMoment, type Since } from "./life.ts";

/** The small size that is quoted, as a part of the round size. */
export const SMALL_PART = 64;
/** A market that refuses the small size may still take this part of it. */
export const SMALLER_PART = 16;
/** By how much a rate between two moments may exceed those at both. Fractions; the smaller one applies if both are equal. */
const TIMED_SLACK = 1e-3;
const TIMELESS_SLACK = 1e-6;
/** Base units that rounding may cost on either side. */
const ROUNDING = 8;
/** How often a market may look like the best before its bounds are tightened: quoting a trade or two is cheaper. */
const LOOKS_BEFORE_HALF = 1;
const LOOKS_BEFORE_WHOLE = 2;

/** Sizes are sampled at powers of two, so that trades of about the same size share the quotes. */
export const roundSizeOf = (amount: number): number => 2 ** Math.ceil(Math.log2(amount));

/** A direction of a pair, and a size. */
export interface RateAsk {
  /** Mode of the trade: for exact outputs, markets without them do not count. */
  readonly mode: SwapMode;
  readonly inMint: Address;
  readonly outMint: Address;
  /** See `roundSizeOf`. Base units. */
  readonly roundSize: number;
  readonly clock: ChainClock;
}

/** An exact quote, in base units, or why there is none. */
type SizeQuote = { readonly in: number; readonly out: number } | "refused" | "too small" | "fails";

/**
 * What one market in one state gives per unit of a small size, and thus at most per unit of a trade of that round size: rates never improve
 * with size.
 */
export class MarketRate {
  #rate: number | undefined;
  readonly #hot: HotMarket;
  readonly #ask: RateAsk;
  readonly #now: SizeQuote;
  /** The results of `mostAt`: at the rate's own moment, and for its life. */
  #mostNow: number | undefined;
  #most: number | undefined;
  /** As `most`, once a size closer to the trade has been quoted. */
  #closest = Number.POSITIVE_INFINITY;
  /** What it gives for the round size, and so at most for any trade. Base units. */
  #whole = Number.POSITIVE_INFINITY;
  #looks: number;
  /** The look at which a tighter bound showed that the market cannot beat the best; 0 if none did. */
  #beatenAt = 0;

  /** @param before the market's previous rate: the bound that showed it beaten then is tried first */
  constructor(hot: HotMarket, ask: RateAsk, before?: MarketRate) {
    this.#looks = before === undefined ? 0 : before.#beatenAt;
    this.#hot = hot;
    this.#ask = ask;
    this.#now = smallQuoteOf(hot, ask);
  }

  /** When it was taken. */
  get since(): Since {
    return this.#ask.clock;
  }

  /** See `lifelongRate`. */
  get rate(): number {
    this.#rate ??= lifelongRate(this.#hot, this.#ask, this.#now);
    return this.#rate;
  }

  /**
   * The most it gives for a unit of a trade at that time, rounding allowed for. Infinity if unknown. For exact inputs of mints
   * without transfer fees. A market that changes before the clock moves on is never quoted for later.
   *
   * @param clock not before the rate was taken, and within its life
   */
  mostAt(clock: ChainClock): number {
    if (!this.lasts && this.#hot.isTimeless !== true && isSameMoment(clock, this.#ask.clock)) {
      this.#mostNow ??= this.#mostByPart(clock);
      return this.#mostNow;
    }
    this.#most ??= this.#mostByPart();
    return this.#most;
  }

  /** True if what `mostAt` says holds for the rest of the rate's life. */
  get lasts(): boolean {
    return this.#most !== undefined;
  }

  /**
   * True if the market cannot beat the best. Makes its bounds tighter if it comes close again and again.
   *
   * @param amount of the trade. Base units
   * @param best what the best market gives for it. Base units
   * @param clock see `mostAt`
   */
  isBeaten(amount: number, best: number, clock: ChainClock): boolean {
    const most = this.mostAt(clock);
    if (this.#fallsShort(most, amount, best)) return true;
    const looks = this.#looks++;
    if (looks === LOOKS_BEFORE_HALF) this.#closest = mostForHalf(this.#hot, this.#ask);
    else if (looks === LOOKS_BEFORE_WHOLE) this.#whole = mostForWhole(this.#hot, this.#ask);
    else return false;
    const isBeaten = this.#fallsShort(most, amount, best);
    this.#beatenAt = isBeaten ? looks : 0;
    return isBeaten;
  }

  #fallsShort(most: number, amount: number, best: number): boolean {
    return most * amount < best || this.#closest * amount < best || this.#whole < best;
  }

  /** @param moment the only time that counts; absent: the rate's life */
  #mostByPart(moment?: ChainClock): number {
    const now = this.#now;
    const then = moment === undefined ? quoteAtEnd(this.#hot, this.#ask, smallSizeOf(this.#ask), now) : now;
    // A size that is refused as too small proves nothing about larger ones.
    if (now === "too small" || then === "too small") return mostForHalf(this.#hot, this.#ask);
    return mostOfBoth(now, then);
  }
}

/** The most that a market gives for a unit of the small size, now or at the end of a rate's life; 0 if it refuses it then, too. */
export function lifelongRate(hot: HotMarket, ask: RateAsk, small = smallQuoteOf(hot, ask)): number {
  const now = rateBy(small, hot, ask);
  if (now > 0 && hot.isTimeless === true) return now;
  const last = { ...ask, clock: endOfLife(ask.clock) };
  return Math.max(now, rateBy(smallQuoteOf(hot, last), hot, last));
}

/** True if a market gives noticeably more or less for the small size by the end of a rate's life. @param tolerance fraction */
export function movesInLife(hot: HotMarket, ask: RateAsk, tolerance: number): boolean {
  const now = rateBy(smallQuoteOf(hot, ask), hot, ask);
  if (now > 0 && hot.isTimeless === true) return false;
  const last = { ...ask, clock: endOfLife(ask.clock) };
  return Math.abs(rateBy(smallQuoteOf(hot, last), hot, last) - now) > tolerance * now;
}

const isServed = (hot: HotMarket, { mode }: RateAsk) => mode === "exactIn" || hot.venue.supports.exactOut;

function smallQuoteOf(hot: HotMarket, ask: RateAsk): SizeQuote {
  return isServed(hot, ask) ? quoteOf(hot, ask, smallSizeOf(ask), ask.clock) : "refused";
}

/**
 * The rate of the small size, or of a smaller one if that is refused; if it buys no whole unit, the most that a unit of a trade may give.
 */
function rateBy(small: SizeQuote, hot: HotMarket, ask: RateAsk): number {
  if (!isServed(hot, ask)) return 0;
  if (small === "too small") {
    const half = quoteOf(hot, ask, Math.ceil(ask.roundSize / 2), ask.clock);
    // All trades of the round size are larger than half of it, and rates fall with size, except for the unit that rounding may cost.
    return typeof half === "object" ? (half.out + 1) / half.in : 1 / smallSizeOf(ask);
  }
  const taken = small === "refused" ? quoteOf(hot, ask, smallerSizeOf(ask), ask.clock) : small;
  return typeof taken === "object" ? taken.out / taken.in : 0;
}

const smallSizeOf = ({ roundSize }: RateAsk) => Math.ceil(roundSize / SMALL_PART);

const smallerSizeOf = (ask: RateAsk) => Math.ceil(smallSizeOf(ask) / SMALLER_PART);

/** What a size gives at the end of a rate's life, if it gives `now` at its beginning. */
function quoteAtEnd(hot: HotMarket, ask: RateAsk, size: number, now: SizeQuote): SizeQuote {
  if (typeof now === "object" && hot.isTimeless === true) return now;
  return quoteOf(hot, ask, size, endOfLife(ask.clock));
}

/** The most for a unit of a trade, by half of the round size: all trades of that round size are larger. */
function mostForHalf(hot: HotMarket, ask: RateAsk): number {
  const half = ask.roundSize / 2;
  const now = quoteOf(hot, ask, half, ask.clock);
  return mostOfBoth(now, quoteAtEnd(hot, ask, half, now));
}

/** The most of what a size gives now and at the end of a rate's life. */
function mostOfBoth(now: SizeQuote, then: SizeQuote): number {
  const [a, b] = [mostOf(now), mostOf(then)];
  return Math.max(a, b) * (1 + (a === b ? TIMELESS_SLACK : TIMED_SLACK));
}

/** The rate if rounding cost as much as it can; 0 if the size, and so every larger one, is refused. */
function mostOf(quote: SizeQuote): number {
  if (typeof quote !== "object") return 0;
  return quote.in <= ROUNDING ? Number.POSITIVE_INFINITY : (quote.out + ROUNDING) / (quote.in - ROUNDING);
}

/** What the round size gives at most while a rate is kept. Infinity if it is too large for the market: a trade may not be. */
function mostForWhole(hot: HotMarket, ask: RateAsk): number {
  const now = quoteOf(hot, ask, ask.roundSize, ask.clock);
  const then = quoteAtEnd(hot, ask, ask.roundSize, now);
  if (typeof now !== "object" || typeof then !== "object") return Number.POSITIVE_INFINITY;
  const slack = now.out === then.out ? TIMELESS_SLACK : TIMED_SLACK;
  return (Math.max(now.out, then.out) + ROUNDING) * (1 + slack);
}

function quoteOf(hot: HotMarket, { inMint, outMint }: RateAsk, size: number, clock: ChainClock): SizeQuote {
  try {
    const amount = BigInt(size);
    const quote = hot.venue.quote(hot.state, { mode: "exactIn", inMint, outMint, amount, clock, amountsOnly: true });
    return { in: Number(quote.inAmount), out: Number(quote.outAmount) };
  } catch (error) {
    if (error instanceof TradewireError) return error.code === "VALIDATION_ERROR" ? "too small" : "refused";
    hot.failed?.(error);
    return "fails";
  }
}
