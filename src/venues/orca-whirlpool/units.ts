import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import type { WhirlpoolFill } from "./math.ts";

/**
 * Compute units, measured on the program's builds from September 2024 to September 2025 and rounded up. An array the program
 * needs and does not find initialised costs a search for its address, one attempt after another. If the fee follows
 * volatility, each step computes the price of a border of ticks: a multiplication for each set bit of the tick, in wider
 * numbers above tick 0.
 */
export const SWAP_UNITS = 48_700;
export const CROSSING_UNITS = 7_620;
export const STEP_UNITS = 7_700;
export const SLOT_UNITS = 10;
export const TOKEN_A_PRICE_UNITS = 3_900;
export const DERIVATION_UNITS = 1_530;
export const REWARD_UNITS = 600;
export const VOLATILITY_UNITS = 13_600;
const VOLATILE_STEP_UNITS = 400;
export const ABOVE_BIT_UNITS = 300;
const BELOW_BIT_UNITS = 80;
const TOKEN_2022_UNITS = 6_300;
const TRANSFER_FEE_UNITS = 9_650;
const EXTENDED_UNITS = 1_600;
const EXTENSION_UNITS = 310;
/** A swap's share of the 1,400,000 units of a transaction, the rest is for the instructions around it. */
export const MAX_SWAP_UNITS = 1_250_000;

/** Addition for a token; programs scan all of a mint's extensions. */
export function mintUnits({ program, transferFees }: Mint, extensions: number): number {
  if (program === TOKEN_PROGRAM) return 0;
  if (transferFees !== undefined) return TOKEN_2022_UNITS + TRANSFER_FEE_UNITS + EXTENSION_UNITS * (extensions - 1);
  return TOKEN_2022_UNITS + (extensions === 0 ? 0 : EXTENDED_UNITS) + EXTENSION_UNITS * extensions;
}

/** What following volatility adds to the steps of a swap. */
export function volatilityUnits({ steps, borderBits: [above, below] }: WhirlpoolFill): number {
  return (steps - 1) * VOLATILE_STEP_UNITS + above * ABOVE_BIT_UNITS + below * BELOW_BIT_UNITS;
}
