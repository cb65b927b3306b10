import { maxOf } from "../../primitives/integer.ts";
import {
  feeRateWithVolatility,
  floorDivide,
  MAX_TICK,
  MIN_TICK,
  VOLATILITY_SCALE,
  volatilityAt,
} from "../curves/concentrated-liquidity.ts";
import type { WhirlpoolOracle } from "./layout.ts";
import { whirlpoolSqrtPrice, whirlpoolTickAt } from "./tick-price.ts";

/** After this many seconds without an update, volatility is reset regardless of the periods. */
const MAX_REFERENCE_AGE = 3_600n;
const REDUCTION_DENOMINATOR = 10_000;

/** What of a pool its fee depends on. */
interface Priced {
  /** Millionths, without the part that follows volatility. */
  readonly feeRate: bigint;
  readonly tick: number;
}

/** Set bits of a tick: its price takes a multiplication for each. */
export function tickBits(tick: number): number {
  let bits = 0;
  for (let rest = Math.abs(tick); rest > 0; rest &= rest - 1) bits++;
  return bits;
}

/**
 * The fee of a pool that follows volatility, group of ticks by group of ticks. The volatility counts groups moved away from
 * a reference group; below and above the groups where it reaches its maximum, whole stretches are priced at once.
 *
 * @see Orca's adaptive-fee documentation; the rounding is that of `FeeRateManager` in the program since 2025
 */
export class VolatilityMeter {
  readonly #curve: Priced;
  readonly #oracle: WhirlpoolOracle;
  readonly #aToB: boolean;
  readonly #reference: number;
  readonly #referenceGroup: number;
  /** Groups from which volatility is at its maximum; undefined if none exists on that side. */
  readonly #lowest: number | undefined;
  readonly #highest: number | undefined;
  #group: number;
  #volatility: number;
  /** Set by `bound`: the boundary the next step stops at, unless it is a tick of the pool; and whether groups were skipped. */
  #boundTick: number | undefined;
  #boundPrice = 0n;
  #skipped = false;
  /** True if the amount was used up within a stretch priced at once. */
  #endsInStretch = false;
  #leftStretchAt: number | undefined;
  readonly #updatedAt: bigint;
  #bitsAbove = 0;
  #bitsBelow = 0;

  constructor(curve: Priced, oracle: WhirlpoolOracle, aToB: boolean, unixTimestamp: bigint) {
    this.#curve = curve;
    this.#oracle = oracle;
    this.#aToB = aToB;
    this.#group = floorDivide(curve.tick, oracle.groupSize);
    [this.#reference, this.#referenceGroup, this.#updatedAt] = referenceAt(oracle, this.#group, unixTimestamp);
    const reach = Math.ceil((oracle.maximumVolatility - this.#reference) / VOLATILITY_SCALE);
    const lowest = this.#referenceGroup - reach;
    const highest = this.#referenceGroup + reach;
    this.#lowest = lowest * oracle.groupSize > MIN_TICK ? lowest : undefined;
    this.#highest = (highest + 1) * oracle.groupSize < MAX_TICK ? highest : undefined;
    this.#volatility = this.#volatilityHere();
  }

  /** Millionths, for the step from here. */
  feeRate(): bigint {
    const { groupSize, controlFactor } = this.#oracle;
    return feeRateWithVolatility(this.#curve.feeRate, this.#volatility, groupSize, controlFactor);
  }

  /** True if the amount was used up within a stretch priced at once: then the program turns the price into its group. */
  get endsInStretch(): boolean {
    return this.#endsInStretch;
  }

  /** The tick at whose price the swap left a stretch priced at once, unless the pool's next tick is there. */
  get leftStretchAt(): number | undefined {
    return this.#leftStretchAt;
  }

  borderBits(): readonly [above: number, below: number] {
    return [this.#bitsAbove, this.#bitsBelow];
  }

  /** The price at which the next step stops: `target` or the border of the group before it. */
  bound(target: bigint, liquidity: bigint): bigint {
    this.#boundTick = undefined;
    this.#skipped = true;
    this.#volatility = this.#volatilityHere();
    if (this.#oracle.controlFactor === 0n || liquidity === 0n) return target;
    const { groupSize } = this.#oracle;
    if (this.#lowest !== undefined && this.#group < this.#lowest) {
      return this.#aToB ? target : this.#stopAt(this.#lowest * groupSize, target);
    }
    if (this.#highest !== undefined && this.#group > this.#highest) {
      return this.#aToB ? this.#stopAt((this.#highest + 1) * groupSize, target) : target;
    }
    this.#skipped = false;
    const border = (this.#aToB ? this.#group : this.#group + 1) * groupSize;
    return this.#stopAt(Math.min(Math.max(border, MIN_TICK), MAX_TICK), target);
  }

  /** Moves to the group after the step that ended at `sqrtPrice`. */
  advance(sqrtPrice: bigint, nextPrice: bigint, nextTick: number): void {
    if (this.#skipped) {
      const tick = sqrtPrice === nextPrice ? nextTick : sqrtPrice === this.#boundPrice ? this.#boundTick : undefined;
      this.#endsInStretch = tick === undefined;
      if (tick === undefined) return; // The amount is used up: nothing more is priced.
      if (sqrtPrice !== nextPrice) this.#leftStretchAt = tick;
      this.#moveTo(tick, true);
    }
    this.#group += this.#aToB ? -1 : 1;
  }

  /** Moves to the group last passed on the way to a price; `onTick`: it is the tick's own. */
  #moveTo(tick: number, onTick: boolean): void {
    const { groupSize } = this.#oracle;
    const onBorder = onTick && tick % groupSize === 0;
    const last = onBorder && !this.#aToB ? tick / groupSize - 1 : floorDivide(tick, groupSize);
    if (this.#aToB ? last >= this.#group : last <= this.#group) return;
    this.#group = last;
    this.#volatility = this.#volatilityHere();
  }

  /** The oracle after a swap that has moved the price from `before` to `sqrtPrice`. To be called once, last. */
  left(before: bigint, sqrtPrice: bigint, unixTimestamp: bigint): WhirlpoolOracle {
    if (this.#endsInStretch) {
      const tick = whirlpoolTickAt(sqrtPrice);
      this.#moveTo(tick, sqrtPrice === whirlpoolSqrtPrice(tick));
    }
    const { majorSwapTicks, majorSwapAt, referenceAt: updatedBefore } = this.#oracle;
    const [lower, higher] = before < sqrtPrice ? [before, sqrtPrice] : [sqrtPrice, before];
    const isMajor = higher >= (lower * whirlpoolSqrtPrice(Math.min(majorSwapTicks, MAX_TICK))) >> 64n;
    const now = maxOf(unixTimestamp, maxOf(updatedBefore, majorSwapAt));
    return {
      ...this.#oracle,
      referenceAt: this.#updatedAt,
      majorSwapAt: isMajor ? now : majorSwapAt,
      volatilityReference: this.#reference,
      groupReference: this.#referenceGroup,
      volatility: this.#volatility,
    };
  }

  #stopAt(tick: number, target: bigint): bigint {
    const price = whirlpoolSqrtPrice(tick);
    if (tick >= 0) this.#bitsAbove += tickBits(tick);
    else this.#bitsBelow += tickBits(tick);
    this.#boundTick = tick;
    this.#boundPrice = price;
    return (this.#aToB ? target > price : target < price) ? target : price;
  }

  #volatilityHere(): number {
    return volatilityAt(this.#reference, this.#referenceGroup, this.#group, this.#oracle.maximumVolatility);
  }
}

/** The moments after `from`, up to `until`, at which the volatility that a new swap measures from decays. Unix seconds. */
export function decaysBetween(oracle: WhirlpoolOracle, from: bigint, until: bigint): readonly bigint[] {
  const lastChange = maxOf(oracle.referenceAt, oracle.majorSwapAt);
  const { filterPeriod, decayPeriod } = oracle;
  const decays = [lastChange + filterPeriod, lastChange + decayPeriod, oracle.referenceAt + MAX_REFERENCE_AGE + 1n];
  return decays.filter((at) => at > from && at <= until);
}

/**
 * The volatility and the group from which a new swap measures, and when they were set. A clock behind the pool's last trade counts
 * as the time of that trade.
 */
function referenceAt(
  oracle: WhirlpoolOracle,
  group: number,
  unixTimestamp: bigint,
): readonly [volatility: number, group: number, updatedAt: bigint] {
  const lastChange = maxOf(oracle.referenceAt, oracle.majorSwapAt);
  const now = maxOf(unixTimestamp, lastChange);
  if (now - oracle.referenceAt > MAX_REFERENCE_AGE) return [0, group, now];
  const elapsed = now - lastChange;
  if (elapsed < oracle.filterPeriod) return [oracle.volatilityReference, oracle.groupReference, oracle.referenceAt];
  if (elapsed < oracle.decayPeriod) {
    return [Math.floor((oracle.volatility * oracle.reductionFactor) / REDUCTION_DENOMINATOR), group, now];
  }
  return [0, group, now];
}
