import { ceilDiv, minOf, U128_MAX } from "../../primitives/integer.ts";
import {
  createPowerLadder,
  feeRateWithVolatility,
  floorDivide,
  lastTickAtOrBelow,
  MAX_TICK,
  MIN_TICK,
  Q64,
  swapStep,
  type TickList,
  volatilityAt,
} from "../curves/concentrated-liquidity.ts";
import type { ClmmVolatility } from "./layout.ts";

/** 1.0001^(−2^i / 2) in Q64, cut shorter than the fixed point allows, for i from 0. */
const FACTORS = [
  0xfffcb933bd6fb800n,
  0xfff97272373d4000n,
  0xfff2e50f5f657000n,
  0xffe5caca7e10f000n,
  0xffcb9843d60f7000n,
  0xff973b41fa98e800n,
  0xff2ea16466c9b000n,
  0xfe5dee046a9a3800n,
  0xfcbe86c7900bb000n,
  0xf987a7253ac65800n,
  0xf3392b0822bb6000n,
  0xe7159475a2caf000n,
  0xd097f3bdfd2f2000n,
  0xa9f746462d9f8000n,
  0x70d869a156f31c00n,
  0x31be135f97ed3200n,
  0x9aa508b5b85a500n,
  0x5d6af8dedc582cn,
  0x2216e584f5fan,
];
const ladder = createPowerLadder(Q64, 64n, FACTORS);

/**
 * The square-root price of a tick within MIN_TICK and MAX_TICK, in Q64.64, to the program's last bit. Prices above 1 are
 * the inverse of those below, rounded down. Constants and rounding are not those of Orca Whirlpools.
 *
 * @see raydium-clmm `libraries/tick_math.rs`
 */
export function clmmSqrtPrice(tick: number): bigint {
  const ratio = ladder(Math.abs(tick));
  return tick > 0 ? U128_MAX / ratio : ratio;
}

/** A swap without a price limit stops one unit before the first and the last price. */
const LOWEST_PRICE = clmmSqrtPrice(MIN_TICK) + 1n;
const HIGHEST_PRICE = clmmSqrtPrice(MAX_TICK) - 1n;

/** More stretches, or ticks, than a transaction has compute units for. */
const MOST_STEPS = 256;
const REDUCTION_DENOMINATOR = 10_000;
const FEE_DENOMINATOR = 1_000_000n;

/** A pool as a swap reads it. */
export interface ClmmCurve extends TickList {
  readonly hasLiquidity: readonly boolean[];
  /** Unfilled limit orders at each tick, in the token they sell. */
  readonly orders: readonly bigint[];
  /** Millionths, without the part that follows volatility. */
  readonly feeRate: bigint;
  /** Who pays the fee: 0 the input, 1 always token 0, 2 always token 1. */
  readonly feeOn: number;
  readonly liquidity: bigint;
  readonly sqrtPrice: bigint;
  readonly tick: number;
  readonly tickSpacing: number;
  readonly volatility: ClmmVolatility | undefined;
}

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
  /** Initialised ticks crossed. */
  readonly crossed: number;
  /** Crossed ticks above price 1. */
  readonly crossedAbove: number;
  /** Crossed ticks at which the price already stood. */
  readonly touched: number;
  /** True if the price ends between two ticks, so that the program has to compute the one below. */
  readonly endsBetween: boolean;
  /** Ticks at which limit orders were matched. */
  readonly matched: number;
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
 * The curve that a trade leaves. Undefined if more than price, tick and liquidity may change: with a fee that follows volatility, or
 * with limit orders; or if the known ticks do not reach far enough.
 */
export function clmmAfter(
  curve: ClmmCurve,
  zeroForOne: boolean,
  exactIn: boolean,
  amount: bigint,
  unixTimestamp: bigint,
): ClmmCurve | undefined {
  if (curve.volatility !== undefined || curve.orders.some((order) => order > 0n)) return undefined;
  const swap = new ClmmSwap(curve, zeroForOne, exactIn, amount, unixTimestamp);
  return swap.run() === undefined ? undefined : swap.left();
}

/** The tick of a price within the ticks: the last one that is not above it. */
function tickOf(sqrtPrice: bigint): number {
  let [low, high] = [MIN_TICK, MAX_TICK];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (clmmSqrtPrice(middle) <= sqrtPrice) low = middle;
    else high = middle - 1;
  }
  return low;
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
  #crossed = 0;
  #crossedAbove = 0;
  #touched = 0;
  #endsBetween = false;
  #matched = 0;
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
    const tick = this.#tick ?? tickOf(this.#sqrtPrice);
    return { ...this.#curve, sqrtPrice: this.#sqrtPrice, liquidity: this.#liquidity, tick };
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
    }
    this.#crossed++;
    this.#tick = this.#zeroForOne ? ticks[index]! - 1 : ticks[index]!;
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
      crossed: this.#crossed,
      crossedAbove: this.#crossedAbove,
      touched: this.#touched,
      endsBetween: this.#endsBetween,
      matched: this.#matched,
    };
  }
}

interface Exchange {
  readonly amountIn: bigint;
  /** After a fee on output. */
  readonly amountOut: bigint;
  readonly fee: bigint;
}

/**
 * Fills limit orders at a tick, at the tick's price: their output is rounded down, their input up.
 *
 * @param unfilled amount the orders still sell, all cohorts together
 * @param rate fee in millionths
 * @see raydium-clmm `states/tick_array.rs` match_limit_order_with_sqrt_price
 */
export function matchOrders(
  unfilled: bigint,
  sqrtPrice: bigint,
  remaining: bigint,
  rate: bigint,
  exactIn: boolean,
  zeroForOne: boolean,
  feeOnInput: boolean,
): Exchange {
  const square = sqrtPrice * sqrtPrice;
  const price = zeroForOne ? square >> 64n : (square + Q64 - 1n) >> 64n;
  const outputFor = (input: bigint): bigint => (zeroForOne ? (input * price) >> 64n : (input << 64n) / price);
  const inputFor = (output: bigint): bigint =>
    zeroForOne ? ceilDiv(output << 64n, price) : ceilDiv(output * price, Q64);
  const feeOnNet = (input: bigint): bigint => ceilDiv(input * rate, FEE_DENOMINATOR - rate);

  let amountIn: bigint;
  let grossOut: bigint;
  let fee = 0n;
  if (exactIn) {
    if (feeOnInput) fee = ceilDiv(remaining * rate, FEE_DENOMINATOR);
    amountIn = remaining - fee;
    grossOut = outputFor(amountIn);
    if (grossOut > unfilled) {
      grossOut = unfilled;
      amountIn = inputFor(unfilled);
      if (feeOnInput) fee = feeOnNet(amountIn);
    }
  } else {
    const net = minOf(remaining, unfilled);
    grossOut = feeOnInput ? net : minOf(ceilDiv(net * FEE_DENOMINATOR, FEE_DENOMINATOR - rate), unfilled);
    amountIn = inputFor(grossOut);
    if (feeOnInput) fee = feeOnNet(amountIn);
  }
  if (feeOnInput) return { amountIn, amountOut: grossOut, fee };
  fee = ceilDiv(grossOut * rate, FEE_DENOMINATOR);
  return { amountIn, amountOut: grossOut - fee, fee };
}

/**
 * The fee of a pool that follows volatility: it rises with each tick spacing the price moves from a reference, and is priced
 * spacing by spacing until it reaches its maximum.
 *
 * @see raydium-clmm `states/pool_fee.rs` and SwapState in `instructions/swap.rs`
 */
class VolatilityMeter {
  readonly #curve: ClmmCurve;
  readonly #info: ClmmVolatility;
  readonly #zeroForOne: boolean;
  readonly #reference: number;
  readonly #groupReference: number;
  #group: number;
  #volatility = 0;
  #skipped = false;

  constructor(curve: ClmmCurve, info: ClmmVolatility, zeroForOne: boolean, unixTimestamp: bigint) {
    this.#curve = curve;
    this.#info = info;
    this.#zeroForOne = zeroForOne;
    this.#group = floorDivide(curve.tick, curve.tickSpacing);
    [this.#reference, this.#groupReference] = referenceAt(info, this.#group, unixTimestamp);
  }

  /** The price at which the next step stops: `target` or the border of the tick spacing before it. */
  bound(target: bigint, liquidity: bigint): bigint {
    const { maximum } = this.#info;
    this.#volatility = volatilityAt(this.#reference, this.#groupReference, this.#group, maximum);
    this.#skipped = liquidity === 0n || this.#volatility === maximum;
    if (this.#skipped) return target;
    const border = (this.#zeroForOne ? this.#group : this.#group + 1) * this.#curve.tickSpacing;
    const price = clmmSqrtPrice(Math.min(Math.max(border, MIN_TICK), MAX_TICK));
    return (this.#zeroForOne ? target > price : target < price) ? target : price;
  }

  /** Millionths, for the step that `bound` has just bounded. */
  feeRate(): bigint {
    return feeRateWithVolatility(this.#curve.feeRate, this.#volatility, this.#curve.tickSpacing, this.#info.control);
  }

  /** Moves to the tick spacing after the step that ended at `sqrtPrice`. */
  advance(sqrtPrice: bigint, nextPrice: bigint, nextTick: number): void {
    if (this.#skipped) {
      if (sqrtPrice !== nextPrice) return; // The amount is used up: nothing more is priced.
      this.#group = nextTick / this.#curve.tickSpacing - (this.#zeroForOne ? 0 : 1);
    }
    this.#group += this.#zeroForOne ? -1 : 1;
  }
}

/** The volatility and the tick spacing from which a new swap measures. */
function referenceAt(
  info: ClmmVolatility,
  group: number,
  unixTimestamp: bigint,
): readonly [volatility: number, group: number] {
  const elapsed = unixTimestamp > info.updatedAt ? unixTimestamp - info.updatedAt : 0n;
  if (elapsed < info.filterPeriod) return [info.reference, info.groupReference];
  if (elapsed < info.decayPeriod) {
    return [Math.floor((info.accumulated * info.reductionFactor) / REDUCTION_DENOMINATOR), group];
  }
  return [0, group];
}
