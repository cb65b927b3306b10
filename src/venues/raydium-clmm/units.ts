import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { Q64 } from "../curves/concentrated-liquidity.ts";
import { type ClmmFill, LARGE_LIQUIDITY, WIDE_LIQUIDITY } from "./math.ts";

/** What of a pool its compute units depend on, besides the trade. */
interface Costed {
  readonly curve: { readonly tick: number };
  readonly mints: readonly [Mint, Mint];
  /** Compute units of a swap that crosses nothing. */
  readonly baseUnits: number;
}

/**
 * Compute units, measured on the program of November 2024, the costliest build known, with some margin; later builds use fewer.
 * Prices above 1 take longer divisions, and a price from an amount of token 0 takes one more. Every swap of that build searches
 * for the address of the bitmap's extension, one attempt after another. Limit orders and fees that follow volatility are an
 * estimate.
 */
const SWAP_UNITS = 33_700;
const ZERO_FOR_ONE_UNITS = 2_900;
const TICK_OF_PRICE_UNITS = 30_100;
const TICK_OF_PRICE_ABOVE_UNITS = 3_550;
const TOKEN_0_PRICE_UNITS = 7_000;
const TOKEN_0_PRICE_ABOVE_UNITS = 2_050;
const CROSSING_UNITS = 17_750;
const CROSSING_DOWN_UNITS = 970;
const CROSSING_ABOVE_UNITS = 1_830;
const CROSSING_DOWN_ABOVE_UNITS = 1_400;
/**
 * If the price ends exactly at a tick, beside its crossing: measured at prices from 1.0001^-400,000 to 1.0001^262,137, in pools of
 * a few units and of many. An exact input of token 0 has room for it in what is charged for a price from an amount.
 */
const ENDS_AT_TICK_UNITS = 4_400;
const ENDS_AT_TICK_DOWN_UNITS = 2_100;
/** For each of `largeSteps`: without it, swaps upwards through up to seven arrays used up to 390 units a stretch above their bound. */
const LARGE_UNITS = 700;
/** Beside it, for each of `wideSteps`, or for one of those that ends between two ticks: without these, swaps used up to 5,711 above. */
const WIDE_UNITS = 1_300;
const ENDS_WIDE_UNITS = 6_000;
/** Saved if the price already stands at the crossed tick. With 12,500, swaps below price 1 used up to 3,059 above their bound. */
const TOUCHING_UNITS = 8_000;
const ORDERS_UNITS = 12_000;
export const ARRAY_UNITS = 3_980;
export const FIRST_ARRAY_UNITS = 1_080;
export const BITMAP_UNITS = 2_370;
export const BITMAP_EXTENSION_UNITS = 860;
const DERIVATION_UNITS = 1_665;
const REWARD_UNITS = 6_300;
const TOKEN_2022_UNITS = 4_200;
const EXTENDED_UNITS = 1_200;
const MINT_EXTENSION_UNITS = 300;
const FEE_EXTENSION_UNITS = 400;
const TRANSFER_FEE_IN_UNITS = 4_950;
const TRANSFER_FEE_OUT_UNITS = 2_800;
const TRANSFER_FEE_IN_EXACT_OUT_UNITS = 2_150;
/** What the older instruction takes less, which reads no mints: 5,859 on that build. */
export const OLDER_SAVES_UNITS = 5_800;
/** A swap's share of the 1,400,000 units of a transaction, the rest is for the instructions around it. */
export const MAX_SWAP_UNITS = 1_250_000;

/** Compute units of the trade itself, besides the arrays and bitmaps it names. */
export function tradeUnits(state: Costed, fill: ClmmFill, zeroForOne: boolean, exactIn: boolean): number {
  // A trade may start below price 1 and end far above it.
  const above = state.curve.tick >= 0 || fill.sqrtPrice >= Q64;
  const between = fill.endsBetween ? 1 : 0;
  const stretches = fill.steps - between + fill.touched;
  let units = state.baseUnits + fill.matched * ORDERS_UNITS - fill.touched * TOUCHING_UNITS;
  units += between * (TICK_OF_PRICE_UNITS + (above ? TICK_OF_PRICE_ABOVE_UNITS : 0));
  if (!fill.endsBetween && !(zeroForOne && exactIn)) units += zeroForOne ? ENDS_AT_TICK_DOWN_UNITS : ENDS_AT_TICK_UNITS;
  units += stretches * (CROSSING_UNITS + (zeroForOne ? CROSSING_DOWN_UNITS : 0));
  units += fill.crossedAbove * (CROSSING_ABOVE_UNITS + (zeroForOne ? CROSSING_DOWN_ABOVE_UNITS : 0));
  units += fill.largeSteps * LARGE_UNITS;
  units += fill.wideSteps * WIDE_UNITS + (fill.endsWide ? ENDS_WIDE_UNITS - WIDE_UNITS : 0);
  if (zeroForOne) units += ZERO_FOR_ONE_UNITS;
  if (zeroForOne === exactIn) units += TOKEN_0_PRICE_UNITS + (above ? TOKEN_0_PRICE_ABOVE_UNITS : 0);
  if (state.mints[zeroForOne ? 0 : 1].transferFees !== undefined) {
    units += exactIn ? TRANSFER_FEE_IN_UNITS : TRANSFER_FEE_IN_EXACT_OUT_UNITS;
  }
  if (state.mints[zeroForOne ? 1 : 0].transferFees !== undefined) units += TRANSFER_FEE_OUT_UNITS;
  return units;
}

/** Compute units of a further tick that a trade ending at this price crosses, at the most. */
export function crossingUnits({ curve: { tick, liquidity } }: Crossed, sqrtPrice: bigint, zeroForOne: boolean): number {
  const isAbove = tick >= 0 || sqrtPrice >= Q64;
  return (
    CROSSING_UNITS +
    (zeroForOne ? CROSSING_DOWN_UNITS : 0) +
    (isAbove ? CROSSING_ABOVE_UNITS + (zeroForOne ? CROSSING_DOWN_ABOVE_UNITS : 0) : 0) +
    (liquidity >= LARGE_LIQUIDITY ? LARGE_UNITS : 0) +
    (liquidity >= WIDE_LIQUIDITY ? WIDE_UNITS : 0)
  );
}

interface Crossed {
  readonly curve: { readonly tick: number; readonly liquidity: bigint };
}

/** What a trade takes less because it begins or ends exactly at a tick: at another price it would not. */
export function savedUnits({ touched, endsBetween }: ClmmFill): number {
  return touched * TOUCHING_UNITS + (endsBetween ? 0 : TICK_OF_PRICE_UNITS + TICK_OF_PRICE_ABOVE_UNITS);
}

/** Compute units of a swap that crosses nothing. @param extensions of either mint */
export function swapUnits(
  bump: number,
  rewards: number,
  mints: readonly [Mint, Mint],
  extensions: readonly [number, number],
): number {
  return (
    SWAP_UNITS +
    (256 - bump) * DERIVATION_UNITS +
    rewards * REWARD_UNITS +
    mintUnits(mints[0], extensions[0]) +
    mintUnits(mints[1], extensions[1])
  );
}

/** Addition for a token; programs scan all of a mint's extensions. What a transfer fee adds depends on the side. */
function mintUnits({ program, transferFees }: Mint, extensions: number): number {
  if (program === TOKEN_PROGRAM) return 0;
  if (transferFees !== undefined) return TOKEN_2022_UNITS + FEE_EXTENSION_UNITS * (extensions - 1);
  return TOKEN_2022_UNITS + (extensions === 0 ? 0 : EXTENDED_UNITS) + MINT_EXTENSION_UNITS * extensions;
}
