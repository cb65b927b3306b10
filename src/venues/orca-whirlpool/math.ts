import { maxOf } from "../../primitives/integer.ts";
import {
  createPowerLadder,
  feeRateWithVolatility,
  floorDivide,
  lastTickAtOrBelow,
  MAX_TICK,
  MIN_TICK,
  swapStep,
  type TickList,
  VOLATILITY_SCALE,
  volatilityAt,
} from "../curves/concentrated-liquidity.ts";
import { isArrayStart, type WhirlpoolOracle, whirlpoolArraySpan, whirlpoolArrayStart } from "./layout.ts";

/** 1.0001^(2^i / 2) in Q96, for i from 0: the program raises positive ticks in 96 bits and takes 32 off at the end. */
const POSITIVE_FACTORS = [
  79232123823359799118286999567n,
  79236085330515764027303304731n,
  79244008939048815603706035061n,
  79259858533276714757314932305n,
  79291567232598584799939703904n,
  79355022692464371645785046466n,
  79482085999252804386437311141n,
  79736823300114093921829183326n,
  80248749790819932309965073892n,
  81282483887344747381513967011n,
  83390072131320151908154831281n,
  87770609709833776024991924138n,
  97234110755111693312479820773n,
  119332217159966728226237229890n,
  179736315981702064433883588727n,
  407748233172238350107850275304n,
  2098478828474011932436660412517n,
  55581415166113811149459800483533n,
  38992368544603139932233054999993551n,
];
/** 1.0001^(−2^i / 2) in Q64. */
const NEGATIVE_FACTORS = [
  18445821805675392311n,
  18444899583751176498n,
  18443055278223354162n,
  18439367220385604838n,
  18431993317065449817n,
  18417254355718160513n,
  18387811781193591352n,
  18329067761203520168n,
  18212142134806087854n,
  17980523815641551639n,
  17526086738831147013n,
  16651378430235024244n,
  15030750278693429944n,
  12247334978882834399n,
  8131365268884726200n,
  3584323654723342297n,
  696457651847595233n,
  26294789957452057n,
  37481735321082n,
];
const positive = createPowerLadder(1n << 96n, 96n, POSITIVE_FACTORS);
const negative = createPowerLadder(1n << 64n, 64n, NEGATIVE_FACTORS);

/**
 * The square-root price of a tick within MIN_TICK and MAX_TICK, in Q64.64, to the program's last bit. Its constants and
 * rounding are not those of Raydium CLMM.
 *
 * @see orca_whirlpools_core 1.0.4 `math/tick.rs`
 */
export function whirlpoolSqrtPrice(tick: number): bigint {
  return tick >= 0 ? positive(tick) >> 32n : negative(-tick);
}

/** Arrays a swap can pass through: the program takes at most three in a row. */
const ARRAYS_PER_SWAP = 3;
/** More stretches than a transaction has compute units for, whatever they cost: a group of ticks may be one tick wide. */
const MOST_STEPS = 256;
/** After this many seconds without an update, volatility is reset regardless of the periods. */
const MAX_REFERENCE_AGE = 3_600n;
const REDUCTION_DENOMINATOR = 10_000;

/** A pool as a swap reads it. */
export interface WhirlpoolCurve extends TickList {
  /** Millionths. */
  readonly feeRate: bigint;
  readonly liquidity: bigint;
  readonly sqrtPrice: bigint;
  readonly tick: number;
  readonly tickSpacing: number;
  /** Absent if the fee does not follow volatility. */
  readonly oracle: WhirlpoolOracle | undefined;
}

/** The result of a swap, on the pool's side of any token transfer fee. */
export interface WhirlpoolFill {
  readonly input: bigint;
  readonly output: bigint;
  /** The part of the input that moved the curve. */
  readonly netIn: bigint;
  readonly sqrtPrice: bigint;
  /** The last tick searched for: where searching stopped. */
  readonly searchedTo: number;
  /** Stretches between ticks that were priced. */
  readonly steps: number;
  /** Initialised ticks crossed. */
  readonly crossed: number;
  /** Set bits of the ticks whose prices the fee's volatility asked for, at or above tick 0 and below it: one multiplication each. */
  readonly borderBits: readonly [above: number, below: number];
}

/** First ticks of the arrays a swap may use, in its direction. For a rising price the search starts one spacing higher. */
export function swapArrayStarts(tick: number, tickSpacing: number, aToB: boolean): number[] {
  const first = whirlpoolArrayStart(aToB ? tick : tick + tickSpacing, tickSpacing);
  const span = whirlpoolArraySpan(tickSpacing);
  const starts: number[] = [];
  for (let i = 0; i < ARRAYS_PER_SWAP; i++) {
    const start = aToB ? first - i * span : first + i * span;
    if (isArrayStart(start, tickSpacing)) starts.push(start);
  }
  return starts;
}

/** The last tick the program can reach in an array that is the last of its row. */
export function lastTickOf(start: number, tickSpacing: number, aToB: boolean): number {
  if (aToB) return Math.max(start, MIN_TICK);
  const end = start + whirlpoolArraySpan(tickSpacing);
  return end > MAX_TICK ? MAX_TICK : end - 1;
}

/**
 * Trades `amount` of the input (`exactIn`) or of the output against the pool, as far as its arrays reach.
 *
 * @returns undefined if that is not far enough
 * @see orca_whirlpools_core 1.0.4 `quote/swap.rs`; the program's `manager/swap_manager.rs` of October 2024
 */
export function swapWhirlpool(
  curve: WhirlpoolCurve,
  aToB: boolean,
  exactIn: boolean,
  amount: bigint,
  unixTimestamp: bigint,
): WhirlpoolFill | undefined {
  const { ticks, sqrtPrices, liquidityNet, tickSpacing } = curve;
  const starts = swapArrayStarts(curve.tick, tickSpacing, aToB);
  const lastStart = starts[starts.length - 1];
  if (lastStart === undefined) return undefined;
  const endTick = lastTickOf(lastStart, tickSpacing, aToB);
  const endPrice = whirlpoolSqrtPrice(endTick);
  const lastSlot = aToB ? endTick : lastStart + whirlpoolArraySpan(tickSpacing) - tickSpacing;
  const meter = curve.oracle && new VolatilityMeter(curve, curve.oracle, aToB, unixTimestamp);

  let { sqrtPrice, liquidity } = curve;
  let remaining = amount;
  let calculated = 0n;
  let fees = 0n;
  let steps = 0;
  let crossed = 0;
  let searchedTo = curve.tick;
  let index = lastTickAtOrBelow(ticks, curve.tick) + (aToB ? 0 : 1);
  let atEnd = false;
  while (remaining > 0n) {
    if (atEnd || steps > MOST_STEPS) return undefined;
    const tick = ticks[index];
    const found = tick !== undefined && (aToB ? tick >= endTick : tick <= endTick);
    const nextTick = found ? tick : endTick;
    const nextPrice = found ? sqrtPrices[index]! : endPrice;
    searchedTo = nextTick;
    do {
      const target = meter === undefined ? nextPrice : meter.bound(nextPrice, liquidity);
      const rate = meter === undefined ? curve.feeRate : meter.feeRate();
      const step = swapStep(sqrtPrice, target, liquidity, remaining, rate, exactIn, aToB, true);
      if (step === undefined) return undefined;
      steps++;
      fees += step.fee;
      remaining -= exactIn ? step.amountIn + step.fee : step.amountOut;
      calculated += exactIn ? step.amountOut : step.amountIn + step.fee;
      sqrtPrice = step.sqrtPrice;
      meter?.advance(sqrtPrice, nextPrice, nextTick);
    } while (remaining > 0n && sqrtPrice !== nextPrice && steps <= MOST_STEPS);
    if (sqrtPrice !== nextPrice) break;
    if (found) {
      crossed++;
      liquidity += aToB ? -liquidityNet[index]! : liquidityNet[index]!;
      index += aToB ? -1 : 1;
      // Crossing the last tick an array can hold, upward, moves to the next array, even if there is none.
      atEnd = nextTick === MIN_TICK || nextTick === MAX_TICK || nextTick === lastSlot;
    } else {
      atEnd = true;
    }
  }
  if (remaining > 0n) return undefined;
  const input = exactIn ? amount : calculated;
  const output = exactIn ? calculated : amount;
  const borderBits = meter?.borderBits() ?? NO_BITS;
  return { input, output, netIn: input - fees, sqrtPrice, searchedTo, steps, crossed, borderBits };
}

const NO_BITS = [0, 0] as const;

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
class VolatilityMeter {
  readonly #curve: WhirlpoolCurve;
  readonly #oracle: WhirlpoolOracle;
  readonly #aToB: boolean;
  readonly #reference: number;
  readonly #referenceGroup: number;
  /** Groups from which volatility is at its maximum; undefined if none exists on that side. */
  readonly #lowest: number | undefined;
  readonly #highest: number | undefined;
  #group: number;
  #volatility: number;
  /** Set by `bound`: the boundary the next step stops at, where it is no tick of the pool's; and whether groups were left out. */
  #boundTick: number | undefined;
  #boundPrice = 0n;
  #skipped = false;
  #bitsAbove = 0;
  #bitsBelow = 0;

  constructor(curve: WhirlpoolCurve, oracle: WhirlpoolOracle, aToB: boolean, unixTimestamp: bigint) {
    this.#curve = curve;
    this.#oracle = oracle;
    this.#aToB = aToB;
    this.#group = floorDivide(curve.tick, oracle.groupSize);
    [this.#reference, this.#referenceGroup] = referenceAt(oracle, this.#group, unixTimestamp);
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
      if (tick === undefined) return; // The amount is used up: nothing more is priced.
      const { groupSize } = this.#oracle;
      const last = tick % groupSize === 0 && !this.#aToB ? tick / groupSize - 1 : floorDivide(tick, groupSize);
      if (this.#aToB ? last < this.#group : last > this.#group) this.#group = last;
    }
    this.#group += this.#aToB ? -1 : 1;
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

/** The volatility and the group from which a new swap measures. A clock behind the pool's last trade counts as the time of that trade. */
function referenceAt(
  oracle: WhirlpoolOracle,
  group: number,
  unixTimestamp: bigint,
): readonly [volatility: number, group: number] {
  const lastChange = maxOf(oracle.referenceAt, oracle.majorSwapAt);
  const now = maxOf(unixTimestamp, lastChange);
  if (now - oracle.referenceAt > MAX_REFERENCE_AGE) return [0, group];
  const elapsed = now - lastChange;
  if (elapsed < oracle.filterPeriod) return [oracle.volatilityReference, oracle.groupReference];
  if (elapsed < oracle.decayPeriod) {
    return [Math.floor((oracle.volatility * oracle.reductionFactor) / REDUCTION_DENOMINATOR), group];
  }
  return [0, group];
}
