import { decodeOnceFor } from "../../solana/decode-once.ts";
import type { SwapMode } from "../venue.ts";
import { lastTickAtOrBelow, type TickList } from "./concentrated-liquidity.ts";

/** A pool of concentrated liquidity before a trade. */
interface Pool extends TickList {
  readonly liquidity: bigint;
  readonly sqrtPrice: bigint;
  readonly tick: number;
}

/** A swap as it is signed. Base units. */
export interface SignedSwap {
  readonly zeroForOne: boolean;
  readonly mode: SwapMode;
  readonly inAmount: bigint;
  readonly outAmount: bigint;
  /** exactIn: the least output. exactOut: the most input. */
  readonly threshold: bigint;
}

/** Compute units of a crossed tick, and of each tick between the one crossed first and the one that is searched for last. */
export interface WalkUnits {
  readonly crossing: number;
  readonly searched: number;
}

/** How far a price is taken to move before a trade lands, in its favour too. Ticks; a tick is 0.01 %. */
const MOST_MOVED = 200;
const TICKS = 10_000;
const ONE = 2 ** 64;

/**
 * The most compute units that a swap uses for ticks if the price first moves as far as its slippage lets it, or as far the other way: it
 * may then begin beside other ticks than the quoted one, and in other liquidity. In doubles, without fees, over the known ticks. 0 without
 * slippage.
 */
export function mostWalkUnits(pool: Pool, swap: SignedSwap, { crossing, searched }: WalkUnits): number {
  const moved = ticksMoved(swap);
  if (moved === 0) return 0;
  const walk = new Walk(pool, swap, moved);
  let most = 0;
  for (; walk.mayStart(); walk.startNext()) {
    walk.goOn();
    most = Math.max(most, walk.crossed * crossing + walk.searched * searched);
  }
  return most;
}

/** How far the price may move before the swap: by the part that its bound is worse than what was quoted. Ticks. */
export function ticksMoved({ mode, inAmount, outAmount, threshold }: Omit<SignedSwap, "zeroForOne">): number {
  const kept = mode === "exactIn" ? Number(threshold) / Number(outAmount) : Number(inAmount) / Number(threshold);
  return Math.min(MOST_MOVED, Math.max(0, Math.ceil((1 - kept) * TICKS)));
}

/** A swap that begins before a tick and crosses it: first before one at the edge of where prices move, then before the next ones. */
class Walk {
  readonly #ticks: readonly number[];
  readonly #numbers: TickNumbers;
  readonly #zeroForOne: boolean;
  readonly #exactIn: boolean;
  readonly #isZeroExact: boolean;
  readonly #amount: number;
  readonly #bound: number;
  readonly #step: 1 | -1;
  /** Liquidity below the first known tick. */
  readonly #base: number;
  /** The best root of a price to begin at. */
  readonly #best: number;
  /** The first and the last tick that it crosses. */
  #first: number;
  #last: number;
  /** What it trades before the first one if it begins at the best price, of the exact side and of the other one. */
  #ahead = 0;
  #gained = 0;

  constructor(pool: Pool, { zeroForOne, mode, inAmount, outAmount, threshold }: SignedSwap, moved: number) {
    const { ticks, tick } = pool;
    const numbers = numbersOf(ticks, pool.sqrtPrices, pool.liquidityNet);
    this.#ticks = ticks;
    this.#numbers = numbers;
    this.#zeroForOne = zeroForOne;
    this.#exactIn = mode === "exactIn";
    this.#isZeroExact = zeroForOne === this.#exactIn;
    this.#amount = Number(this.#exactIn ? inAmount : outAmount);
    this.#bound = Number(threshold);
    this.#step = zeroForOne ? -1 : 1;
    const own = lastTickAtOrBelow(ticks, tick);
    this.#base = Number(pool.liquidity) - (own < 0 ? 0 : numbers.added[own]!);
    this.#best = (Number(pool.sqrtPrice) / ONE) * (1 + moved / (2 * TICKS)) ** -this.#step;
    this.#first = zeroForOne ? lastTickAtOrBelow(ticks, tick + moved) : lastTickAtOrBelow(ticks, tick - moved) + 1;
    this.#last = this.#first;
  }

  get crossed(): number {
    return Math.abs(this.#last - this.#first) + 1;
  }

  /** Ticks from the first one that it crosses to the last one that it looks for. */
  get searched(): number {
    const ticks = this.#ticks;
    const next = this.#last + this.#step;
    const end = next < 0 || next >= ticks.length ? this.#last : next;
    return Math.abs(ticks[end]! - ticks[this.#first]!);
  }

  /** True if it may begin before its first tick and keep its bound. */
  mayStart(): boolean {
    const first = this.#first;
    const { roots, added } = this.#numbers;
    if (first < 0 || first >= roots.length) return false;
    const root = roots[first]!;
    const earlier = first - this.#step;
    const before = earlier < 0 || earlier >= roots.length ? this.#best : roots[earlier]!;
    const start = this.#zeroForOne ? Math.min(before, this.#best) : Math.max(before, this.#best);
    const distance = Math.max(0, (root - start) * this.#step);
    const below = this.#zeroForOne ? first : first - 1;
    const held = Math.max(0, this.#base + (below < 0 ? 0 : added[below]!));
    const zero = (held * distance) / (root * start);
    const one = held * distance;
    this.#ahead = this.#isZeroExact ? zero : one;
    this.#gained = this.#isZeroExact ? one : zero;
    return this.#keepsBound(first, 0);
  }

  /** Crosses further ticks while the amount and the bound last. */
  goOn(): void {
    const { length } = this.#ticks;
    for (;;) {
      const next = this.#last + this.#step;
      if (next < 0 || next >= length) return;
      const exact = this.#isZeroExact ? this.#zeroTo(next) : this.#oneTo(next);
      if (exact >= this.#amount || !this.#keepsBound(next, exact)) return;
      this.#last = next;
    }
  }

  startNext(): void {
    if (this.#last === this.#first) this.#last += this.#step;
    this.#first += this.#step;
  }

  /** Token 0, and token 1, between the first tick that it crosses and another one. */
  #zeroTo(tick: number): number {
    const { roots, zero } = this.#numbers;
    const first = this.#first;
    return Math.abs(zero[tick]! - zero[first]! - this.#base * (1 / roots[tick]! - 1 / roots[first]!));
  }

  #oneTo(tick: number): number {
    const { roots, one } = this.#numbers;
    const first = this.#first;
    return Math.abs(one[tick]! - one[first]! + this.#base * (roots[tick]! - roots[first]!));
  }

  /** True if what it has traded when it reaches a tick, and the rest at the tick's price, keeps the bound. @param exact since its first tick */
  #keepsBound(tick: number, exact: number): boolean {
    const other = this.#isZeroExact ? this.#oneTo(tick) : this.#zeroTo(tick);
    const left = this.#amount - exact;
    const part = this.#ahead > left ? left / this.#ahead : 1;
    const root = this.#numbers.roots[tick]!;
    const price = this.#isZeroExact ? root * root : 1 / (root * root);
    const total = other + this.#gained * part + (left - this.#ahead * part) * price;
    return this.#exactIn ? total >= this.#bound : total <= this.#bound;
  }
}

/** Of each tick: the root of its price, the liquidity that it and those below it add, and the amounts that these hold below it. */
interface TickNumbers {
  readonly roots: Float64Array;
  readonly added: Float64Array;
  readonly zero: Float64Array;
  readonly one: Float64Array;
}

/** Made once while the ticks stay the same. */
const numbersOf = decodeOnceFor(
  (ticks: readonly number[], sqrtPrices: readonly bigint[], liquidityNet: readonly bigint[]): TickNumbers => {
    const list = () => new Float64Array(ticks.length);
    const [roots, added, zero, one] = [list(), list(), list(), list()];
    let sum = 0;
    for (let at = 0; at < ticks.length; at++) {
      const root = Number(sqrtPrices[at]!) / ONE;
      roots[at] = root;
      if (at > 0) {
        zero[at] = zero[at - 1]! + sum * (1 / roots[at - 1]! - 1 / root);
        one[at] = one[at - 1]! + sum * (root - roots[at - 1]!);
      }
      sum += Number(liquidityNet[at]!);
      added[at] = sum;
    }
    return { roots, added, zero, one };
  },
);
