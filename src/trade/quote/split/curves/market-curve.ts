import { TradewireError } from "../../../../errors/tradewire-error.ts";
import type { HotMarket } from "../../../../market/port.ts";
import type { Address } from "../../../../primitives/address.ts";
import { minOf } from "../../../../primitives/integer.ts";
import type { Ask, Quote, SwapMode } from "../../../../venues/venue.ts";

/** Exact quotes left in a search's budget. */
export interface QuoteBudget {
  left: number;
}

/** An exact quote at a size: how much of it went in, and what came out; nothing if the market refused it. Base units. */
interface SizeQuote {
  readonly in: number;
  readonly out: number;
  /** False if this is all that the market takes of the size. */
  readonly isWhole: boolean;
}

/** Exact quotes of one market in one direction by size. Base units. */
export type SizeQuotes = Map<number, SizeQuote>;

const REFUSED: SizeQuote = { in: 0, out: 0, isWhole: false };
/** A refusal that says nothing about larger sizes. */
const TOO_SMALL: SizeQuote = { in: 0, out: 0, isWhole: true };

/**
 * Output of one market by input, in one direction, interpolated between exact quotes at a few sizes. Between two sizes, input per output is
 * a straight line, which is exact for a constant product with its fee. In doubles: it steers the search for a split and prices nothing.
 */
export class MarketCurve {
  readonly hot: HotMarket;
  readonly inMint: Address;
  readonly outMint: Address;
  /** Mode of the trade: an exact output buys whole units, each at the least it costs. */
  readonly mode: SwapMode;
  /** Largest input known to be accepted, and smallest known to be refused. Base units. */
  most = 0;
  refused = Number.POSITIVE_INFINITY;
  /** True if a small part of a trade buys no unit of its output here: between whole units the curve says little. */
  isCoarse = false;
  /**
   * True if a part counts at the best price of any larger size: a transfer fee that has reached its maximum costs each unit of a larger
   * part less.
   */
  sharesFees = false;
  /** Grows with every new quote. */
  learned = 0;
  /** Shared by all curves of this market, so that each size is quoted once. */
  readonly #quotes: SizeQuotes;
  readonly #sizes: number[] = [];
  /** Input per output at each size, as quoted. */
  readonly #prices: number[] = [];
  /** The same as it is read: see `sharesFees`. */
  #read: number[] = this.#prices;

  constructor(hot: HotMarket, inMint: Address, outMint: Address, quotes: SizeQuotes, mode: SwapMode = "exactIn") {
    this.hot = hot;
    this.inMint = inMint;
    this.outMint = outMint;
    this.mode = mode;
    this.#quotes = quotes;
  }

  /**
   * A curve of its own that starts with what this one knows.
   *
   * @param hot the market's current state and its quotes, if it has changed since
   */
  copy(hot = this.hot, quotes = this.#quotes): MarketCurve {
    const copy = new MarketCurve(hot, this.inMint, this.outMint, quotes, this.mode);
    copy.most = this.most;
    copy.refused = this.refused;
    copy.isCoarse = this.isCoarse;
    copy.sharesFees = this.sharesFees;
    for (let place = 0; place < this.#sizes.length; place++) {
      copy.#sizes.push(this.#sizes[place]!);
      copy.#prices.push(this.#prices[place]!);
    }
    copy.#shareFees();
    return copy;
  }

  /** Adds an exact quote. One that is close to another takes its place. Sizes in base units. */
  learn(inAmount: number, outAmount: number): void {
    if (!(inAmount > 0 && outAmount > 0)) return;
    const sizes = this.#sizes;
    let place = 0;
    while (place < sizes.length && sizes[place]! < inAmount) place++;
    if (sizes[place] === inAmount) return;
    this.learned++;
    const isClose = (at: number) => Math.abs(sizes[at]! - inAmount) <= inAmount * CLOSE;
    const close = place < sizes.length && isClose(place) ? place : place > 0 && isClose(place - 1) ? place - 1 : -1;
    sizes.splice(close < 0 ? place : close, close < 0 ? 0 : 1, inAmount);
    this.#prices.splice(close < 0 ? place : close, close < 0 ? 0 : 1, inAmount / outAmount);
    this.most = Math.max(this.most, inAmount);
    this.#shareFees();
  }

  #shareFees(): void {
    if (!this.sharesFees) return;
    this.#read = this.#prices.slice();
    for (let place = this.#read.length - 2; place >= 0; place--)
      this.#read[place] = Math.min(this.#read[place]!, this.#read[place + 1]!);
  }

  /**
   * Quotes a size exactly and learns from it. A quote that another curve has made counts too: what a search finds must not depend on others.
   *
   * @returns false if the market refuses this size, or the budget is spent
   */
  sample(size: number, clock: Ask["clock"], budget: QuoteBudget): boolean {
    if (size < 1) return false;
    if (this.#sizes.includes(size)) return true;
    if (budget.left <= 0) return false;
    budget.left--;
    let quote = this.#quotes.get(size);
    if (quote === undefined) {
      quote = this.#ask(size, clock);
      this.#quotes.set(size, quote);
    }
    // If a market takes only a part of a size, that part is its limit.
    if (!quote.isWhole) this.refused = Math.min(this.refused, size);
    this.learn(quote.in, quote.out);
    return quote.in > 0;
  }

  #ask(size: number, clock: Ask["clock"]): SizeQuote {
    const given = this.#quote("exactIn", BigInt(size), clock);
    if (!("outAmount" in given)) return given;
    const { inAmount, outAmount } = given;
    const isFew = this.mode === "exactOut" && outAmount < FEW_UNITS;
    const least = isFew ? this.#quote("exactOut", outAmount, clock) : given;
    return {
      in: Number("outAmount" in least ? minOf(least.inAmount, inAmount) : inAmount),
      out: Number(outAmount),
      isWhole: Number(inAmount) >= size,
    };
  }

  /** An exact quote, or the kind of refusal. */
  #quote(mode: SwapMode, amount: bigint, clock: Ask["clock"]): Quote | SizeQuote {
    const { hot, inMint, outMint } = this;
    try {
      return hot.venue.quote(hot.state, { mode, inMint, outMint, amount, clock, amountsOnly: true });
    } catch (error) {
      return error instanceof TradewireError && error.code === "VALIDATION_ERROR" ? TOO_SMALL : REFUSED;
    }
  }

  /** Output for an input, both in base units. Flat beyond the most that is known to go in. */
  out(input: number): number {
    const amount = Math.min(input, this.most);
    return amount <= 0 ? 0 : amount / this.#priceAt(amount);
  }

  /** The same for an input that was quoted: what its own quote said. */
  quotedOut(input: number): number {
    const place = this.sharesFees ? this.#sizes.indexOf(input) : -1;
    return place < 0 ? this.out(input) : input / this.#prices[place]!;
  }

  /** Input for an output: the reverse of `out`. Infinity if the market is not known to give that much. Base units. */
  inputFor(output: number): number {
    if (output <= 0) return 0;
    if (output > this.out(this.most)) return Number.POSITIVE_INFINITY;
    const sizes = this.#sizes;
    const prices = this.#read;
    const last = sizes.length - 1;
    if (last === 0) return output * prices[0]!;
    let place = 1;
    while (place < last && sizes[place]! / prices[place]! < output) place++;
    const lowest = prices[place - 1]! / 2;
    const slope = (prices[place]! - prices[place - 1]!) / (sizes[place]! - sizes[place - 1]!);
    const input = (output * this.#onLine(place, 0)) / (1 - output * slope);
    return Math.min(this.#onLine(place, input) >= lowest ? input : output * lowest, this.most);
  }

  /**
   * A size between two known ones around an input, if prices bend there: the lines through the quotes before and after do not
   * meet the one between. Undefined if the curve is as known sizes say. Base units.
   */
  bendNear(input: number): number | undefined {
    const sizes = this.#sizes;
    let [size, worst] = [0, LEAST_BEND];
    for (let place = 1; place < sizes.length; place++) {
      if (sizes[place]! < input || sizes[place - 1]! > input) continue;
      const middle = Math.floor((sizes[place - 1]! + sizes[place]!) / 2);
      const price = this.#onLine(place, middle);
      for (const beside of [place - 1, place + 1]) {
        if (beside < 1 || beside >= sizes.length) continue;
        const bend = Math.abs(this.#onLine(beside, middle) / price - 1);
        if (bend > worst) [size, worst] = [middle, bend];
      }
    }
    return size === 0 ? undefined : size;
  }

  /** Input per output on the line through the quote at a place and the one before. */
  #onLine(place: number, amount: number): number {
    const x = this.#sizes[place - 1]!;
    const p = this.#read[place - 1]!;
    return p + ((this.#read[place]! - p) / (this.#sizes[place]! - x)) * (amount - x);
  }

  #priceAt(amount: number): number {
    const sizes = this.#sizes;
    const prices = this.#read;
    const last = sizes.length - 1;
    if (last === 0) return prices[0]!;
    let place = 1;
    while (place < last && sizes[place]! < amount) place++;
    // Close to zero, the line may leave the range of possible prices.
    return Math.max(this.#onLine(place, amount), prices[place - 1]! / 2);
  }
}

/** An amount of fewer units moves in steps that bend a curve. */
const FEW_UNITS = 1_000n;
/** Quotes whose sizes differ by less than this share count as one: rounding would bend the line between them. */
const CLOSE = 1 / 256;
/** Prices bend if the lines of neighbours are off by more than this share. */
const LEAST_BEND = 2e-3;
