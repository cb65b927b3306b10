import type { Address } from "../../primitives/address.ts";
import { U64_MAX } from "../../primitives/integer.ts";
import type { ChainClock } from "../../solana/account.ts";
import { arriving, sending, transferFeeOf } from "../shared/transfer-sides.ts";
import type { Quote } from "../venue.ts";
import { swapWhirlpool, type WhirlpoolCurve, type WhirlpoolFill } from "./math.ts";
import { routesFrom, type WhirlpoolState } from "./state.ts";
import { whirlpoolTickAt } from "./tick-price.ts";

/**
 * The pool that a trade leaves: its price, tick and liquidity, and the volatility of its fee. Further swaps reach the arrays that
 * were read of it and no others.
 *
 * @returns undefined if the pool cannot make the trade
 */
export function tradedWhirlpool(state: WhirlpoolState, made: Quote, clock: ChainClock): WhirlpoolState | undefined {
  const { market, mints, reserves, slots } = state;
  const aToB = made.inMint === market.mints[0];
  const exactIn = made.mode === "exactIn";
  const amount = exactIn
    ? arriving(made.inAmount, transferFeeOf(mints[aToB ? 0 : 1], clock.epoch))
    : sending(made.outAmount, transferFeeOf(mints[aToB ? 1 : 0], clock.epoch));
  if (amount === undefined || amount > U64_MAX) return undefined;
  const fill = swapWhirlpool(state.curve, aToB, exactIn, amount, clock.unixTimestamp);
  if (fill === undefined) return undefined;
  const curve = { ...curveAfter(state.curve, fill, clock), arrays: new Set(slots.keys()), named: false };
  const [a, b] = aToB ? [fill.input, -fill.output] : [-fill.output, fill.input];
  return { ...state, curve, reserves: [reserves[0] + a, reserves[1] + b], routes: routesFrom(slots, curve) };
}

function curveAfter(curve: WhirlpoolCurve, fill: WhirlpoolFill, { unixTimestamp }: ChainClock): WhirlpoolCurve {
  const { sqrtPrice, liquidity, meter } = fill;
  const oracle = meter?.left(curve.sqrtPrice, sqrtPrice, unixTimestamp);
  return { ...curve, sqrtPrice, liquidity, tick: fill.tick ?? whirlpoolTickAt(sqrtPrice), oracle };
}

/** The pool as a swap sees it that names these arrays. */
export function withArrays(state: WhirlpoolState, named: readonly Address[]): WhirlpoolState {
  const arrays = [...state.slots].filter(([, { address }]) => named.includes(address)).map(([start]) => start);
  return { ...state, curve: { ...state.curve, arrays: new Set(arrays), named: true } };
}
