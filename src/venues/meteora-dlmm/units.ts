import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import type { Ask } from "../venue.ts";
import type { DlmmPair } from "./layout.ts";
import { type DlmmFill, FEE_CAP } from "./math.ts";
import type { DlmmState } from "./state.ts";

/**
 * Compute units, measured on the program: a trade within one bin, then what each further bin, each empty bin passed and
 * each further array adds. Exact out computes every bin twice. The older instructions take 544 to 819 less. One bin takes most at
 * prices far from 1 with a fee that follows volatility, one array if the active bin is the last of its own.
 */
export function unitsOf(
  { pair, mints, extensions, extended }: DlmmState,
  fill: DlmmFill,
  arrays: number,
  xToY: boolean,
  { mode }: Ask,
): number {
  const exactIn = mode === "exactIn";
  return (
    (exactIn ? 42_400 : 45_100) +
    (pair.limitOrders ? 900 : 0) +
    (extended ? 1_300 : 0) +
    rewardUnits(pair.rewards, fill.bins + fill.empty) +
    binUnits(pair, fill, exactIn, xToY) +
    fill.empty * EMPTY_UNITS +
    fill.mixed * MIXED_UNITS +
    (arrays - 1) * ARRAY_UNITS +
    mintUnits(mints[0], extensions[0], exactIn) +
    mintUnits(mints[1], extensions[1], exactIn)
  );
}

/** Compute units of a further bin in a trade's way, with liquidity and without, at the most. */
export function furtherBinUnits({ pair }: DlmmState, exactIn: boolean, xToY: boolean) {
  const { each, wide } = BIN_UNITS[exactIn ? "exactIn" : "exactOut"];
  const kind = pair.variableFeeControl > 0n ? 1 : 0;
  const rewards = pair.rewards === 0 ? 0 : rewardUnits(pair.rewards, 2) - rewardUnits(pair.rewards, 1);
  const further = each[kind] + wide[kind] + (xToY ? 0 : 300) + rewards + (pair.limitOrders ? MIXED_UNITS : 0);
  return { each: further, empty: EMPTY_UNITS };
}

/** Of an empty bin that is passed, and of a bin where a trade reaches limit orders after market makers. */
const EMPTY_UNITS = 270;
const MIXED_UNITS = 2_000;
/** Of each array beyond the first. */
const ARRAY_UNITS = 1_800;
/** Of an array that is named before the first one needed: 899, measured. */
export const PASSED_ARRAY_UNITS = 950;

/** Of each bin beyond the first, and what it takes more if it is wide: without and with a fee that follows volatility. */
const BIN_UNITS = {
  exactIn: { each: [5_250, 5_650], wide: [300, 600] },
  exactOut: { each: [6_200, 6_800], wide: [300, 800] },
} as const;

/**
 * Of the bins beyond the first. The program divides numbers of more than 64 bits more slowly: a bin's amount times its fee, and the square
 * of a volatility that is high enough to take the fee to its cap. Such bins are wide.
 */
function binUnits(pair: DlmmPair, fill: DlmmFill, exactIn: boolean, xToY: boolean): number {
  const { each, wide } = BIN_UNITS[exactIn ? "exactIn" : "exactOut"];
  const kind = pair.variableFeeControl > 0n ? 1 : 0;
  const further = fill.bins - 1;
  const charged = pair.feesInY && xToY ? fill.grossOut : fill.input;
  // Each bin with such a product has 64 bits of theirs.
  const wideProducts = Math.min(further, Number((charged * fill.highestFee) >> 64n));
  const wideBins = kind === 1 && fill.highestFee === FEE_CAP ? further : wideProducts;
  return further * (each[kind] + (xToY ? 0 : 300)) + wideBins * wide[kind];
}

/** Bins, from the active one on, among which a swap shares the rewards since the last one. */
const REWARDED_BINS = 15;

/** Addition for rewards of providers. */
function rewardUnits(rewards: number, bins: number): number {
  if (rewards === 0) return 0;
  const further = Math.min(bins, REWARDED_BINS) - 1;
  return rewards === 1 ? 2_750 + 1_050 * further : 3_850 + 1_490 * further;
}

/** Addition for the transfer of a token; an exact-out trade computes its fee twice. */
function mintUnits(mint: Mint, extensions: number, exactIn: boolean): number {
  if (mint.program === TOKEN_PROGRAM) return 0;
  const each = exactIn ? 380 : 450;
  if (mint.transferFees !== undefined) return (exactIn ? 6_200 : 8_200) + each * (extensions - 1);
  return (exactIn ? 3_600 : 3_900) + (extensions > 0 ? (exactIn ? 1_000 : 1_300) : 0) + each * extensions;
}
