import { TradewireError } from "../../../errors/tradewire-error.ts";
import type { HotMarket } from "../../../market/port.ts";
import type { Address } from "../../../primitives/address.ts";
import type { Ask } from "../../../venues/venue.ts";

/** Exact quotes that a search may still ask for. */
export interface QuoteBudget {
  left: number;
}

/**
 * What one market gives for what goes in, in one direction: read off exact quotes at a few sizes. Between them, input per
 * output is a straight line, which is exact for a constant product with its fee. In doubles: it steers the search for a split
 * and prices nothing.
 */
export class MarketCurve {
  readonly hot: HotMarket;
  readonly inMint: Address;
  readonly outMint: Address;
  /** The most that is known to go in. Base units. */
  most = 0;
  readonly #sizes: number[] = [];
  /** Input per output at each size. */
  readonly #prices: number[] = [];

  constructor(hot: HotMarket, inMint: Address, outMint: Address) {
    this.hot = hot;
    this.inMint = inMint;
    this.outMint = outMint;
  }

  /** A curve of its own that starts with what this one knows. */
  copy(): MarketCurve {
    const copy = new MarketCurve(this.hot, this.inMint, this.outMint);
    copy.most = this.most;
    copy.#sizes.push(...this.#sizes);
    copy.#prices.push(...this.#prices);
    return copy;
  }

  /** Adds an exact quote. Sizes in base units. */
  learn(inAmount: number, outAmount: number): void {
    if (!(inAmount > 0 && outAmount > 0)) return;
    const price = inAmount / outAmount;
    let place = 0;
    while (place < this.#sizes.length && this.#sizes[place]! < inAmount) place++;
    const isKnown = this.#sizes[place] === inAmount;
    this.#sizes.splice(place, isKnown ? 1 : 0, inAmount);
    this.#prices.splice(place, isKnown ? 1 : 0, price);
    this.most = Math.max(this.most, inAmount);
  }

  /** Quotes exactly and learns from it. @returns false if the market refuses this size, or the budget is spent */
  sample(amount: bigint, clock: Ask["clock"], budget: QuoteBudget): boolean {
    if (amount <= 0n || budget.left <= 0) return false;
    budget.left--;
    const { hot, inMint, outMint } = this;
    try {
      const quote = hot.venue.quote(hot.state, { mode: "exactIn", inMint, outMint, amount, clock });
      this.learn(Number(quote.inAmount), Number(quote.outAmount));
      return true;
    } catch (error) {
      if (error instanceof TradewireError) return false;
      throw error;
    }
  }

  /** True if a size within a quarter of this one was quoted. */
  knows(input: number): boolean {
    return this.#sizes.some((size) => Math.abs(size - input) <= input / 4);
  }

  /** Output for an input, both in base units. Flat beyond the most that is known to go in. */
  out(input: number): number {
    const amount = Math.min(input, this.most);
    return amount <= 0 ? 0 : amount / this.#priceAt(amount);
  }

  #priceAt(amount: number): number {
    const sizes = this.#sizes;
    const prices = this.#prices;
    const last = sizes.length - 1;
    if (last === 0) return prices[0]!;
    let place = 1;
    while (place < last && sizes[place]! < amount) place++;
    const [x, p] = [sizes[place - 1]!, prices[place - 1]!];
    const slope = (prices[place]! - p) / (sizes[place]! - x);
    const price = p + slope * (amount - x);
    // Next to nothing the line may leave what a price can be.
    return Math.max(price, p / 2);
  }
}
