import { lastTickAtOrBelow, MAX_TICK, MIN_TICK, swapStep } from "../curves/concentrated-liquidity.ts";
import { type ClmmCurve, withOrders } from "./curve.ts";
import { type Exchange, matchOrders } from "./limit-orders.ts";
import { clmmSqrtPrice, clmmTickAt } from "./ticks/tick-price.ts";
import { VolatilityMeter } from "./volatility.ts";

/** A swap without a price limit stops one unit before the first and the last price. */
const LOWEST_PRICE = clmmSqrtPrice(MIN_TICK) + 1n;
const HIGHEST_PRICE = clmmSqrtPrice(MAX_TICK) - 1n;

/** From these liquidities on, the program takes longer to compute a stretch: from the second, divisors have a word more. */
export const LARGE_LIQUIDITY = 1n << 42n;
export const WIDE_LIQUIDITY = 1n << 64n;

/** More stretches, or ticks, than a transaction has compute units for. */
const MOST_STEPS = 256;

/** The result of a swap, on the pool's side of any token transfer fee. */
export interface ClmmFill {
  readonly input: bigint;
  readonly output: bigint;
  /** The part of the input that moved the curve. */
  readonly netIn: bigint;
  /** What the curve and the orders gave before a fee on output. */
  readonly grossOut: bigint;
  /** The last initialised tick searched for, reached or not: its array must be named. */
  readonly searchedTo: number;
  /** Stretches between ticks that were priced. */
  readonly steps: number;
  /** Of `steps`, those of at least `LARGE_LIQUIDITY`. */
  readonly largeSteps: number;
  /** Of `largeSteps`, those of at least `WIDE_LIQUIDITY`. */
  readonly wideSteps: number;
  /** True if the last of `steps` is one of those and ends between two ticks. */
  readonly endsWide: boolean;
  /** Initialised ticks crossed. */
  readonly crossed: number;
  /** Crossed ticks above price 1. */
  readonly crossedAbove: number;
  /** Crossed ticks at which the price already stood. */
  readonly touched: number;
  /** Where the price ends. */
  readonly sqrtPrice: bigint;
  /** True if the price ends between two ticks, so that the program has to compute the one below. */
  readonly endsBetween: boolean;
  /** Ticks at which limit orders were matched. */
  readonly matched: number;
}

/** A trade and the curve that it leaves. */
export interface ClmmAfter {
  readonly fill: ClmmFill;
  readonly curve: ClmmCurve;
}

/**
 * Trades `amount` of the input (`exactIn`) or of the output against the pool, as far as its known ticks reach.
 *
 * @returns undefined if that is not far enough
 * @see raydium-clmm `instructions/swap.rs` swap_internal, July 2026
 */
export function swapClmm(
  curve: ClmmCurve,
  zeroForOne: boolean,
  exactIn: boolean,
  amount: bigint,
  unixTimestamp: bigint,
): ClmmFill | undefined {
  return new ClmmSwap(curve, zeroForOne, exactIn, amount, unixTimestamp).run();
}

/**
 * The curve that a trade leaves: price, tick and liquidity, what limit orders are left, and the volatility that the fee follows.
 *
 * @returns undefined if the known ticks do not reach far enough
 */
export function clmmAfter(
  curve: ClmmCurve,
  zeroForOne: boolean,
  exactIn: boolean,
  amount: bigint,
  unixTimestamp: bigint,
): ClmmAfter | undefined {
  const swap = new ClmmSwap(curve, zeroForOne, exactIn, amount, unixTimestamp);
  const fill = swap.run();
  return fill && { fill, curve: swap.left() };
}

/** The state of one swap along the curve. */
class ClmmSwap {
  readonly #curve: ClmmCurve;
  readonly #zeroForOne: boolean;
  readonly #exactIn: boolean;
  readonly #amount: bigint;
  readonly #feeOnInput: boolean;
  readonly #limit: bigint;
  readonly #meter: VolatilityMeter | undefined;
  #sqrtPrice: bigint;
  #liquidity: bigint;
  #remaining: bigint;
  /** Amount of the other side so far. */
  #calculated = 0n;
  #fees = 0n;
  #steps = 0;
  #largeSteps = 0;
  #wideSteps = 0;
  #crossed = 0;
  #crossedAbove = 0;
  #touched = 0;
  #endsBetween = false;
  #matched = 0;
  /** What is left of the orders that were matched, by the place of their tick. */
  #unfilled: Map<number, bigint> | undefined;
  #searchedTo: number;
  /** The pool's tick, while it need not be found from the price: a stretch that does not move the price leaves the tick. */
  #tick: number | undefined;

  constructor(curve: ClmmCurve, zeroForOne: boolean, exactIn: boolean, amount: bigint, unixTimestamp: bigint) {
    this.#curve = curve;
    this.#zeroForOne = zeroForOne;
    this.#exactIn = exactIn;
    this.#amount = amount;
    this.#feeOnInput = curve.feeOn === 0 || (curve.feeOn === 1) === zeroForOne;
    this.#limit = zeroForOne ? LOWEST_PRICE : HIGHEST_PRICE;
    this.#meter = curve.volatility && new VolatilityMeter(curve, curve.volatility, zeroForOne, unixTimestamp);
    this.#sqrtPrice = curve.sqrtPrice;
    this.#liquidity = curve.liquidity;
    this.#remaining = amount;
    this.#searchedTo = curve.tick;
    this.#tick = curve.tick;
  }

  /** @returns undefined if the known ticks do not reach far enough */
  run(): ClmmFill | undefined {
    const { ticks, tick } = this.#curve;
    const direction = this.#zeroForOne ? -1 : 1;
    let index = lastTickAtOrBelow(ticks, tick) + (this.#zeroForOne ? 0 : 1);
    for (; this.#remaining > 0n && this.#sqrtPrice !== this.#limit; index += direction) {
      if (this.#crossed > MOST_STEPS || !this.#tradeTo(index)) return undefined;
    }
    return this.#remaining > 0n ? undefined : this.#fill();
  }

  /** The curve after `run`. */
  left(): ClmmCurve {
    const tick = this.#tick ?? clmmTickAt(this.#sqrtPrice);
    const volatility = this.#meter?.left();
    const left = { ...this.#curve, sqrtPrice: this.#sqrtPrice, liquidity: this.#liquidity, tick, volatility };
    return this.#unfilled === undefined ? left : withOrders(left, this.#unfilled);
  }

  /** Trades up to an initialised tick, and across it if the amount suffices. @returns false if the swap cannot go on */
  #tradeTo(index: number): boolean {
    const tick = this.#curve.ticks[index];
    if (tick === undefined) return false;
    this.#searchedTo = tick;
    const meter = this.#meter;
    const nextPrice = this.#curve.sqrtPrices[index]!;
    const isBeyond = this.#zeroForOne ? nextPrice < this.#limit : nextPrice > this.#limit;
    const target = isBeyond ? this.#limit : nextPrice;
    do {
      if (this.#steps > MOST_STEPS) return false;
      const bound = meter === undefined ? target : meter.bound(target, this.#liquidity);
      const rate = meter === undefined ? this.#curve.feeRate : meter.feeRate();
      const touching = this.#sqrtPrice === bound;
      if (!touching && !this.#step(bound, rate)) return false;
      if (this.#sqrtPrice === nextPrice && !this.#cross(index, rate, touching)) return false;
      this.#endsBetween = this.#sqrtPrice !== nextPrice;
      meter?.advance(this.#sqrtPrice, nextPrice, tick);
    } while (this.#remaining > 0n && this.#sqrtPrice !== target);
    return true;
  }

  /** Trades within one stretch of liquidity. */
  #step(bound: bigint, rate: bigint): boolean {
    this.#steps++;
    if (this.#liquidity >= LARGE_LIQUIDITY) this.#largeSteps++;
    if (this.#liquidity >= WIDE_LIQUIDITY) this.#wideSteps++;
    const step = swapStep(
      this.#sqrtPrice,
      bound,
      this.#liquidity,
      this.#remaining,
      rate,
      this.#exactIn,
      this.#zeroForOne,
      this.#feeOnInput,
    );
    if (step === undefined) return false;
    if (step.sqrtPrice !== this.#sqrtPrice) this.#tick = undefined;
    this.#sqrtPrice = step.sqrtPrice;
    this.#take(step);
    return true;
  }

  /** Fills the limit orders at a tick and crosses it. */
  #cross(index: number, rate: bigint, touching: boolean): boolean {
    const { ticks, sqrtPrices, liquidityNet, hasLiquidity, orders } = this.#curve;
    let unfilled = orders[index]!;
    if (unfilled > 0n && this.#remaining > 0n) {
      const price = sqrtPrices[index]!;
      const match = matchOrders(
        unfilled,
        price,
        this.#remaining,
        rate,
        this.#exactIn,
        this.#zeroForOne,
        this.#feeOnInput,
      );
      unfilled -= match.amountOut + (this.#feeOnInput ? 0n : match.fee);
      this.#take(match);
      this.#matched++;
      this.#unfilled ??= new Map();
      this.#unfilled.set(index, unfilled);
    }
    this.#crossed++;
    // Orders that are left hold the price at their tick: the next swap in this direction begins with them.
    this.#tick = this.#zeroForOne === unfilled > 0n ? ticks[index]! : ticks[index]! - 1;
    if (ticks[index]! > 0) this.#crossedAbove++;
    if (touching) this.#touched++;
    if (unfilled === 0n && hasLiquidity[index]!) {
      this.#liquidity += this.#zeroForOne ? -liquidityNet[index]! : liquidityNet[index]!;
    } else if (unfilled > 0n && this.#remaining > 0n) {
      return false; // The program stops here too, with orders and amount left.
    }
    return true;
  }

  #take({ amountIn, amountOut, fee }: Exchange): void {
    const paid = this.#feeOnInput ? amountIn + fee : amountIn;
    this.#remaining -= this.#exactIn ? paid : amountOut;
    this.#calculated += this.#exactIn ? amountOut : paid;
    this.#fees += fee;
  }

  #fill(): ClmmFill {
    const input = this.#exactIn ? this.#amount : this.#calculated;
    const output = this.#exactIn ? this.#calculated : this.#amount;
    return {
      input,
      output,
      netIn: this.#feeOnInput ? input - this.#fees : input,
      grossOut: this.#feeOnInput ? output : output + this.#fees,
      searchedTo: this.#searchedTo,
      steps: this.#steps,
      largeSteps: this.#largeSteps,
      wideSteps: this.#wideSteps,
      endsWide: this.#endsBetween && this.#liquidity >= WIDE_LIQUIDITY,
      crossed: this.#crossed,
      crossedAbove: this.#crossedAbove,
      touched: this.#touched,
      sqrtPrice: this.#sqrtPrice,
      endsBetween: this.#endsBetween,
      matched: this.#matched,
    };
  }
}
