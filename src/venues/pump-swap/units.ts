import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { BUMP_STEP_UNITS, QUOTE_CREATION_UNITS } from "../shared/pump-costs.ts";
import type { PumpSwapInstruction } from "./instruction.ts";
import type { PumpPool } from "./layout.ts";

/** Measured on the program for a coin with a creator, without account creations. */
const UNITS: Readonly<Record<PumpSwapInstruction, number>> = { buy: 71_600, buyWithBudget: 73_300, sell: 63_800 };
/** Additions and savings in other cases. */
const UNITS_WITHOUT_CREATOR = -4_000;
const UNITS_OF_CASHBACK: Readonly<Record<PumpSwapInstruction, number>> = {
  buy: 2_900,
  buyWithBudget: 2_900,
  sell: 7_200,
};
const UNITS_OF_EXTENDING = 12_000;
/** Additions for a Token-2022 mint, and for each of its extensions. The quote is transferred several times. */
const UNITS_OF_BASE_2022 = 2_000;
const UNITS_OF_BASE_EXTENSION = 480;
const UNITS_OF_QUOTE_2022 = 7_000;
const UNITS_OF_QUOTE_EXTENSION = 1_300;
/** Additions for the creation of each account. */
export const VOLUME_CREATION_UNITS = { buy: 3_100, sell: 3_400 };
const QUOTE_CREATION_2022_UNITS = 3_400;

/**
 * Compute units of each instruction at most, without account creations and address searches that depend on the wallet.
 *
 * @param tierUnits what the fee configuration adds, see `feeTierUnits`
 */
export function unitsOf(
  pool: PumpPool,
  mints: readonly [Mint, Mint],
  extensions: readonly [number, number],
  bumpSteps: number,
  tierUnits: number,
): Readonly<Record<PumpSwapInstruction, number>> {
  const extra =
    tierUnits +
    BUMP_STEP_UNITS * bumpSteps +
    (pool.coinCreator === SYSTEM_PROGRAM ? UNITS_WITHOUT_CREATOR : 0) +
    (mints[0].program === TOKEN_PROGRAM ? 0 : UNITS_OF_BASE_2022 + UNITS_OF_BASE_EXTENSION * extensions[0]) +
    (mints[1].program === TOKEN_PROGRAM ? 0 : UNITS_OF_QUOTE_2022 + UNITS_OF_QUOTE_EXTENSION * extensions[1]) +
    (pool.needsExtending ? UNITS_OF_EXTENDING : 0);
  const units = (instruction: PumpSwapInstruction): number =>
    UNITS[instruction] + extra + (pool.cashback ? UNITS_OF_CASHBACK[instruction] : 0);
  return { buy: units("buy"), buyWithBudget: units("buyWithBudget"), sell: units("sell") };
}

/** Addition for creating a token account of the quote mint, without the search for its address. */
export function quoteCreationUnitsOf({ program }: Mint, extensions: number): number {
  const extra = program === TOKEN_PROGRAM ? 0 : QUOTE_CREATION_2022_UNITS + UNITS_OF_QUOTE_EXTENSION * extensions;
  return QUOTE_CREATION_UNITS + extra;
}
