import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import type { TransferFees } from "../../solana/token/transfer-fee.ts";
import type { WalkUnits } from "../curves/moved-crossings.ts";
import type { WhirlpoolMarket } from "./layout.ts";
import type { WhirlpoolFill } from "./math.ts";
import { tickBits } from "./volatility.ts";

/**
 * Compute units, measured on the program's builds from September 2024 to September 2025 and rounded up. An array the program
 * needs and does not find initialised costs a search for its address, one attempt after another, and so does the oracle, which
 * every swap names. A swap that ends between two ticks computes the price of the tick below it; with a fee that
 * follows volatility, each step computes that of a border of ticks. Either takes a multiplication for each set bit of the tick,
 * in wider numbers above tick 0.
 */
interface StepUnits {
  readonly swap: number;
  /** If token A is the side that the amount fixes. */
  readonly tokenA: number;
  readonly aToB: number;
  readonly crossing: number;
  readonly crossingAToB: number;
  readonly step: number;
  readonly slot: number;
  /** For each set bit of the tick that the swap ends at. */
  readonly endAbove: number;
  readonly endBelow: number;
  /** One attempt at the address of an array that does not exist. */
  readonly derivation: number;
}

const PLAIN: StepUnits = {
  swap: 46_500,
  tokenA: 3_900,
  aToB: 250,
  crossing: 7_550,
  crossingAToB: 350,
  step: 8_000,
  slot: 20,
  endAbove: 285,
  endBelow: 165,
  derivation: 1_610,
};
const ADAPTIVE: StepUnits = {
  swap: 51_600,
  tokenA: 3_700,
  aToB: 950,
  crossing: 9_100,
  crossingAToB: 0,
  step: 8_020,
  slot: 34,
  endAbove: 285,
  endBelow: 150,
  derivation: 1_820,
};
/** For each tick crossed where an array is dynamic: the program seeks the tick's place among those that are initialised. */
const DYNAMIC_CROSSING_UNITS = 1_700;
/** For each attempt at the oracle's address beyond the first, on pools without an oracle too. */
const ORACLE_UNITS = 1_530;
/**
 * If the fee follows volatility: for a step of a fixed input, for one that sells A, for each set bit of a border, and where prices
 * are so high that products take one word more. With that from tick 66,000 on, a swap at 65,530 used 1,183 units above its bound.
 */
const STEP_IN_UNITS = 100;
const STEP_A_TO_B_UNITS = 80;
const BORDER_ABOVE_UNITS = 348;
const BORDER_BELOW_UNITS = 25;
const HIGH_TICK = 65_000;
const HIGH_UNITS = 2_520;
/** For each of `wideSteps`. Without it, steps used up to 300 units above what a bound has for them; steps of less liquidity, 220 below. */
const STEP_WIDE_UNITS = 350;
/** Less, if the swap ends at an initialised tick: no price is turned into a tick. */
const ENDS_AT_TICK_UNITS = 3_000;
/** Turning the price that a swap ends at into its tick a second time, to find the group of that price, beside its set bits. */
const STRETCH_END_UNITS = 2_400;
/**
 * Then the program computes that tick's price once more. For a tick above 0, a swap has room for so many of its set bits; swaps used up to
 * 478 for each further one.
 */
const STRETCH_END_BITS = 11;
const STRETCH_END_BIT_UNITS = 630;
/** From this tick on, of whatever bits: without it, swaps were down to 298 units below the bound, those at lower ticks 1,329. */
const STRETCH_HIGH_TICK = 131_072;
const STRETCH_HIGH_UNITS = 1_500;
/**
 * For the price of a tick above 0 that the swap looks for, each set bit takes as much as of the one that it ends at. The first search
 * has room for this many, and what a further step takes in any case includes so many units for its own.
 */
const FIRST_BITS = 4;
const SEARCHED_UNITS = 2_150;
/** A trade that lands at a slightly other price ends at another tick: the lowest bits count as set. */
const LOW_BITS = 6;

/** What the older instruction takes less: it reads no mints. 7,005 to 7,390 on these builds. */
const OLDER_SAVES_UNITS = 7_000;
/** And what two SPL Token mints are always below the bound, unless the fee follows volatility: 2,042 at least, of much liquidity at prices below 1. */
const SPARE_UNITS = 1_700;

/** A swap's share of the 1,400,000 units of a transaction, the rest is for the instructions around it. */
export const MAX_SWAP_UNITS = 1_250_000;

const REWARD_UNITS = 600;
const TOKEN_2022_UNITS = 6_300;
/** More for a mint without extensions. With two, swaps used up to 734 units above the bound without it, with one 515 below, with none 1,838. */
const BARE_UNITS = 1_000;
const TRANSFER_FEE_UNITS = 9_650;
/** Before each transfer with a fee, the program states it in a memo: what that takes in any case, and for each character. */
const FEE_MEMO_UNITS = 1_150;
const FEE_MEMO_CHARACTER_UNITS = 363;
const EXTENDED_UNITS = 2_900;
const EXTENSION_UNITS = 310;

/** Compute units of a swap of one step, without what depends on the trade. `extensions` are those each mint carries. */
export function baseUnits(
  { adaptive, oracleBump }: Pick<WhirlpoolMarket, "adaptive" | "oracleBump">,
  { tick, rewards }: { readonly tick: number; readonly rewards: number },
  mints: readonly [Mint, Mint],
  extensions: readonly [number, number],
): number {
  return (
    (adaptive ? ADAPTIVE.swap + (tick >= HIGH_TICK ? HIGH_UNITS : 0) : PLAIN.swap) +
    (255 - oracleBump) * ORACLE_UNITS +
    rewards * REWARD_UNITS +
    mintUnits(mints[0], extensions[0]) +
    mintUnits(mints[1], extensions[1])
  );
}

/** Compute units of what a swap passes through, `slots` of ticks searched. `isDynamic`: an array is. */
export function stepUnits(
  adaptive: boolean,
  fill: WhirlpoolFill,
  slots: number,
  aToB: boolean,
  exactIn: boolean,
  isDynamic = false,
): number {
  const { steps, crossed, wideSteps, searchedBits, sqrtPrice, endsInStretch, leftStretchAt } = fill;
  const [above, below] = fill.borderBits;
  const units = adaptive ? ADAPTIVE : PLAIN;
  const stepsBetween = Math.max(steps - 1 - crossed, 0);
  return (
    (aToB === exactIn ? units.tokenA : 0) +
    (aToB ? units.aToB : 0) +
    crossed * walkUnits(adaptive, 1, aToB, isDynamic).crossing +
    stepsBetween * units.step +
    Math.ceil(slots) * units.slot +
    Math.max(0, (searchedBits - FIRST_BITS) * units.endAbove - (steps - 1) * SEARCHED_UNITS) +
    (crossed === steps ? -ENDS_AT_TICK_UNITS : endUnits(units, sqrtPrice)) +
    (endsInStretch ? stretchEndUnits(units, sqrtPrice) : 0) +
    (leftStretchAt === undefined ? 0 : leaveUnits(units, leftStretchAt)) +
    (adaptive
      ? stepsBetween * ((exactIn ? STEP_IN_UNITS : 0) + (aToB ? STEP_A_TO_B_UNITS : 0)) +
        wideSteps * STEP_WIDE_UNITS +
        above * BORDER_ABOVE_UNITS +
        below * BORDER_BELOW_UNITS
      : 0)
  );
}

/**
 * Compute units of ticks that a swap may have in its way: what `stepUnits` charges for those it crosses, and for each tick that it searches.
 */
export function walkUnits(adaptive: boolean, tickSpacing: number, aToB: boolean, isDynamic: boolean): WalkUnits {
  const { crossing, crossingAToB, slot } = adaptive ? ADAPTIVE : PLAIN;
  return {
    crossing: crossing + (aToB ? crossingAToB : 0) + (isDynamic ? DYNAMIC_CROSSING_UNITS : 0),
    searched: slot / tickSpacing,
  };
}

/** Compute units of the attempts at the address of an array that does not exist, down to its bump. */
export function derivationUnits(adaptive: boolean, bump: number): number {
  return (256 - bump) * (adaptive ? ADAPTIVE : PLAIN).derivation;
}

/** What a swap by the older instruction takes less. */
export function olderSaving(adaptive: boolean): number {
  return OLDER_SAVES_UNITS + (adaptive ? 0 : SPARE_UNITS);
}

const TICKS_PER_E = 1 / Math.log(1.0001);

/** Turning the price that a swap ends at into its tick. */
function endUnits({ endAbove, endBelow }: StepUnits, sqrtPrice: bigint): number {
  const tick = tickAt(sqrtPrice);
  return endBits(tick) * (tick >= 0 ? endAbove : endBelow);
}

/** Finding the group of the price that a swap ends at, within a stretch priced at once. */
function stretchEndUnits(units: StepUnits, sqrtPrice: bigint): number {
  const tick = tickAt(sqrtPrice);
  const further = tick >= 0 ? Math.max(0, endBits(tick) - STRETCH_END_BITS) * STRETCH_END_BIT_UNITS : 0;
  return (
    STRETCH_END_UNITS + endUnits(units, sqrtPrice) + further + (tick >= STRETCH_HIGH_TICK ? STRETCH_HIGH_UNITS : 0)
  );
}

/** The tick of a price, or one beside it. */
function tickAt(sqrtPrice: bigint): number {
  return Math.floor(2 * Math.log(Number(sqrtPrice) / 2 ** 64) * TICKS_PER_E);
}

/** Set bits of a tick that a swap ends at, the lowest as if all were set. */
function endBits(tick: number): number {
  const highest = 32 - Math.clz32(Math.abs(tick));
  return Math.min(tickBits(Math.abs(tick) >> LOW_BITS) + LOW_BITS, highest);
}

/** Turning the price of the border at which a swap leaves a stretch into its tick, and that tick into its price again. */
function leaveUnits({ endAbove, endBelow }: StepUnits, tick: number): number {
  return STRETCH_END_UNITS + 2 * tickBits(tick) * (tick >= 0 ? endAbove : endBelow);
}

/** Addition for a token; programs scan all of a mint's extensions. */
function mintUnits({ program, transferFees }: Mint, extensions: number): number {
  if (program === TOKEN_PROGRAM) return 0;
  if (transferFees !== undefined) {
    return TOKEN_2022_UNITS + TRANSFER_FEE_UNITS + feeMemoUnits(transferFees) + EXTENSION_UNITS * (extensions - 1);
  }
  return TOKEN_2022_UNITS + (extensions === 0 ? BARE_UNITS : EXTENDED_UNITS) + EXTENSION_UNITS * extensions;
}

/** The memo about a token's fee, the longer one if the next epoch changes it. */
function feeMemoUnits({ older, newer }: TransferFees): number {
  const [now, next] = [older, newer].map(({ bps, maximumFee }) => `TFe: ${bps}, ${maximumFee}`.length);
  return FEE_MEMO_UNITS + FEE_MEMO_CHARACTER_UNITS * Math.max(now!, next!);
}
