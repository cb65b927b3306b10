import {
  feeRateWithVolatility,
  floorDivide,
  MAX_TICK,
  MIN_TICK,
  volatilityAt,
} from "../curves/concentrated-liquidity.ts";
import type { ClmmVolatility } from "./layout.ts";
import { clmmSqrtPrice } from "./tick-price.ts";

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
  #group: number;
  #volatility = 0;
  #skipped = false;

  constructor(curve: Priced, info: ClmmVolatility, zeroForOne: boolean, unixTimestamp: bigint) {
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
