import {
  feeRateWithVolatility,
  floorDivide,
  MAX_TICK,
  MIN_TICK,
  volatilityAt,
} from "../curves/concentrated-liquidity.ts";
import type { ClmmVolatility } from "./layout.ts";
import { clmmSqrtPrice } from "./ticks/tick-price.ts";

const REDUCTION_DENOMINATOR = 10_000;

/** What of a pool its fee depends on. */
interface Priced {
  /** Millionths, without the part that follows volatility. */
  readonly feeRate: bigint;
  readonly tick: number;
  readonly tickSpacing: number;
}

/**
 * The fee of a pool that follows volatility: it rises with each tick spacing the price moves from a reference, and is priced
 * spacing by spacing until it reaches its maximum.
 *
 * @see raydium-clmm `states/pool_fee.rs` and SwapState in `instructions/swap.rs`
 */
export class VolatilityMeter {
  readonly #curve: Priced;
  readonly #info: ClmmVolatility;
  readonly #zeroForOne: boolean;
  readonly #reference: number;
  readonly #groupReference: number;
  readonly #updatedAt: bigint;
  #group: number;
  #volatility = 0;
  #skipped = false;

  constructor(curve: Priced, info: ClmmVolatility, zeroForOne: boolean, unixTimestamp: bigint) {
    this.#curve = curve;
    this.#info = info;
    this.#zeroForOne = zeroForOne;
    this.#group = floorDivide(curve.tick, curve.tickSpacing);
    [this.#reference, this.#groupReference, this.#updatedAt] = referenceAt(info, this.#group, unixTimestamp);
  }

  /** The price at which the next step stops: `target` or the border of the tick spacing before it. */
  bound(target: bigint, liquidity: bigint): bigint {
    this.#measure();
    this.#skipped = liquidity === 0n || this.#volatility === this.#info.maximum;
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
      if (this.#volatility !== this.#info.maximum) this.#measure();
    }
    this.#group += this.#zeroForOne ? -1 : 1;
  }

  /** The pool's account of its volatility after the swap, whatever the clock says before the next one. */
  left(): ClmmVolatility {
    return {
      ...this.#info,
      groupReference: this.#groupReference,
      reference: this.#reference,
      accumulated: this.#volatility,
      updatedAt: this.#updatedAt,
    };
  }

  #measure(): void {
    this.#volatility = volatilityAt(this.#reference, this.#groupReference, this.#group, this.#info.maximum);
  }
}

/** The volatility and the tick spacing from which a new swap measures, and when they were set. */
function referenceAt(
  info: ClmmVolatility,
  group: number,
  unixTimestamp: bigint,
): readonly [volatility: number, group: number, updatedAt: bigint] {
  const elapsed = unixTimestamp > info.updatedAt ? unixTimestamp - info.updatedAt : 0n;
  if (elapsed < info.filterPeriod) return [info.reference, info.groupReference, info.updatedAt];
  if (elapsed < info.decayPeriod) {
    const reference = Math.floor((info.accumulated * info.reductionFactor) / REDUCTION_DENOMINATOR);
    return [reference, group, unixTimestamp];
  }
  return [0, group, unixTimestamp];
}
