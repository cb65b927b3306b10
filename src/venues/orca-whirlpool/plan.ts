import type { Address } from "../../primitives/address.ts";
import { amount0Between, amount1Between } from "../curves/concentrated-liquidity.ts";
import { mostWalkUnits } from "../curves/moved-crossings.ts";
import type { Quote } from "../venue.ts";
import { swapWhirlpool, type WhirlpoolFill } from "./math.ts";
import type { ArraySlot, WhirlpoolState } from "./state.ts";
import { whirlpoolSqrtPrice } from "./tick-price.ts";
import { derivationUnits, MAX_SWAP_UNITS, stepUnits, walkUnits } from "./units.ts";
import { decaysBetween } from "./volatility.ts";

/** A swap that a pool is asked to make. */
export interface WhirlpoolAsk {
  readonly aToB: boolean;
  readonly exactIn: boolean;
  /** The exact side as the curve sees it: without the mints' transfer fees. */
  readonly amount: bigint;
  /** Unix seconds; 0 if the fee does not follow volatility. */
  readonly now: bigint;
}

/** The arrays that a swap names, and what it costs. */
export interface WhirlpoolQuoteFill {
  readonly aToB: boolean;
  readonly tickArrays: readonly [Address, Address, Address];
  readonly computeUnits: number;
  /** Of these, what the ticks in its way take. */
  readonly walkedUnits: number;
  readonly asked: WhirlpoolAsk;
  /** True to make the trade by the program's older instruction, which names fewer accounts. */
  readonly isOlder?: boolean;
}

/** Arrays in the direction of a trade that it looks into, up to the one that its last price lies in. */
export function arraysUsed({ routes }: WhirlpoolState, { sqrtPrice }: WhirlpoolFill, aToB: boolean): number {
  let used = 1;
  for (const border of routes[aToB ? 0 : 1].borders) if (aToB ? sqrtPrice < border : sqrtPrice > border) used++;
  return used;
}

/**
 * The arrays to name: those crossed, then the one behind and the next one if there is room, so that a price that moves a little
 * in the meantime still finds its array. At the end of the second array the third one is named though nothing is traded there: without it
 * the program would stop at that end, and charge what reaches it.
 */
export function planWhirlpool(state: WhirlpoolState, fill: WhirlpoolFill, asked: WhirlpoolAsk): WhirlpoolQuoteFill {
  const { arrays, behind } = state.routes[asked.aToB ? 0 : 1];
  const first = arrays[0]!;
  const second = arrays[1] ?? behind ?? first;
  const needsThird = arraysUsed(state, fill, asked.aToB) === 3 || isAtSecondEnd(state, fill, asked);
  const third = (needsThird ? arrays[2] : behind) ?? arrays[2] ?? first;
  return fillNaming(state, fill, asked, [first, second, third]);
}

/** True if the price ends where the second array does, or an exact output less than a unit short of it. */
function isAtSecondEnd({ routes }: WhirlpoolState, fill: WhirlpoolFill, { aToB, exactIn }: WhirlpoolAsk): boolean {
  const { arrays, borders } = routes[aToB ? 0 : 1];
  const [border, third] = [borders[1], arrays[2]];
  if (border === undefined || third === undefined) return false;
  const { sqrtPrice, liquidity } = fill;
  if (exactIn) return sqrtPrice === border;
  if (aToB) return amount1Between(border, sqrtPrice, liquidity, false) === 0n;
  return amount0Between(sqrtPrice, whirlpoolSqrtPrice(third.start - 1), liquidity, false) === 0n;
}

/** A swap that names these arrays, with its compute units. */
export function fillNaming(
  state: WhirlpoolState,
  fill: WhirlpoolFill,
  asked: WhirlpoolAsk,
  named: readonly [ArraySlot, ArraySlot, ArraySlot],
): WhirlpoolQuoteFill {
  const { aToB, exactIn } = asked;
  const { adaptive, tickSpacing } = state.market;
  const distance = Math.abs(fill.searchedTo - state.curve.tick);
  const slots = distance / tickSpacing;
  const isDynamic = named.some((array) => array.isDynamic === true);
  const walk = walkUnits(adaptive, tickSpacing, aToB, isDynamic);
  let units = state.baseUnits + stepUnits(adaptive, fill, slots, aToB, exactIn, isDynamic);
  for (const array of state.routes[aToB ? 0 : 1].arrays) {
    const passed = named.includes(array);
    if (passed && array.exists) continue;
    units += derivationUnits(adaptive, array.bump);
    if (!passed) break;
  }
  const [first, second, third] = named;
  return {
    aToB,
    tickArrays: [first.address, second.address, third.address],
    computeUnits: units,
    walkedUnits: fill.crossed * walk.crossing + distance * walk.searched,
    asked,
  };
}

/** The arrays that a swap names. */
export function namedArrays(
  { routes }: WhirlpoolState,
  { aToB, tickArrays }: WhirlpoolQuoteFill,
): readonly [ArraySlot, ArraySlot, ArraySlot] {
  const { arrays, behind } = routes[aToB ? 0 : 1];
  const slotOf = (named: Address) => arrays.find(({ address }) => address === named) ?? behind!;
  return [slotOf(tickArrays[0]), slotOf(tickArrays[1]), slotOf(tickArrays[2])];
}

/** A blockhash lasts no longer. Seconds. */
const MOST_LIFE = 60n;

/**
 * The most compute units of a swap whenever it lands: where volatility is at its maximum, a single step leads over many groups of ticks, and
 * once it has decayed, each group takes a step.
 */
export function unitsUntilLanding(state: WhirlpoolState, fill: WhirlpoolQuoteFill): number {
  const { curve } = state;
  const { asked, computeUnits } = fill;
  if (curve.oracle === undefined) return computeUnits;
  let most = computeUnits;
  for (const now of decaysBetween(curve.oracle, asked.now, asked.now + MOST_LIFE)) {
    const later = swapWhirlpool(curve, asked.aToB, asked.exactIn, asked.amount, now);
    if (later === undefined) continue;
    most = Math.max(most, fillNaming(state, later, { ...asked, now }, namedArrays(state, fill)).computeUnits);
  }
  return Math.min(most, MAX_SWAP_UNITS);
}

/** What a swap may take more if the price first moves within the slippage: for other ticks in its way. */
export function movedUnits(
  { market, curve, routes }: WhirlpoolState,
  { mode, inAmount, outAmount, fill }: Quote<WhirlpoolQuoteFill>,
  threshold: bigint,
): number {
  const { aToB, walkedUnits } = fill;
  const isDynamic = routes[aToB ? 0 : 1].arrays.some((array) => array.isDynamic === true);
  const units = walkUnits(market.adaptive, market.tickSpacing, aToB, isDynamic);
  const most = mostWalkUnits(curve, { zeroForOne: aToB, mode, inAmount, outAmount, threshold }, units);
  return Math.max(0, Math.ceil(most - walkedUnits));
}
