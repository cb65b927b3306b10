import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { QUOTE_CREATION_UNITS } from "../shared/pump-costs.ts";
import type { PumpInstruction } from "./instruction.ts";

/** The most of all builds without any account to create; for coins priced in SOL, and for those priced in a token. */
const NATIVE_UNITS: Readonly<Record<PumpInstruction, number>> = { buy: 74_100, buyWithBudget: 75_500, sell: 63_200 };
const TOKEN_QUOTED_UNITS: Readonly<Record<PumpInstruction, number>> = {
  buy: 88_000,
  buyWithBudget: 89_400,
  sell: 84_700,
};
/** The same of the older instructions, which trade coins priced in SOL alone. */
const OLDER_UNITS: Readonly<Record<PumpInstruction, number>> = { buy: 62_700, buyWithBudget: 64_000, sell: 47_800 };
/** Addition for an older sale that pays cashback, and for making the wallet's volume record in one. */
export const OLDER_CASHBACK_UNITS = 3_600;
export const OLDER_CASHBACK_CREATION_UNITS = 3_000;
/** Additions for a Token-2022 mint, and for each of its extensions. The quote is transferred several times. */
const BASE_2022_UNITS = 2_000;
const BASE_EXTENSION_UNITS = 480;
const QUOTE_2022_UNITS = 8_000;
const QUOTE_EXTENSION_UNITS = 1_350;
/** Additions for settings that share the creator's fee, and for each of those whom they name: the program tells of all. */
const SHARING_UNITS = 200;
const SHAREHOLDER_UNITS = 460;
/** Addition for the buy that completes the curve. */
export const COMPLETION_UNITS = 4_500;
/** Addition for bringing the account of an older curve to today's size. */
export const GROWTH_UNITS = 2_000;
/** Additions for the creation of each account. */
export const VOLUME_CREATION_UNITS = 3_100;
export const VAULT_CREATION_UNITS = 2_300;
const QUOTE_CREATION_2022_UNITS = 2_900;

interface PumpCost {
  readonly base: Mint;
  /** Undefined for coins priced in lamports. */
  readonly quoteToken: Mint | undefined;
  readonly extensions: readonly [number, number];
  /** What the fee configuration adds, see `feeTierUnits`. */
  readonly tierUnits: number;
  /** Among how many the creator's fee is shared; undefined if nothing says so. */
  readonly shareholders: number | undefined;
}

/** Compute units of each instruction at most, without the searches for derived addresses and without creations. */
export function unitsOf(cost: PumpCost): Readonly<Record<PumpInstruction, number>> {
  const { base, quoteToken, extensions, tierUnits, shareholders } = cost;
  const extra =
    tierUnits +
    baseExtra(base, extensions[0]) +
    (isToken2022(quoteToken) ? QUOTE_2022_UNITS + QUOTE_EXTENSION_UNITS * extensions[1] : 0) +
    (shareholders === undefined ? 0 : SHARING_UNITS + SHAREHOLDER_UNITS * shareholders);
  const { buy, buyWithBudget, sell } = quoteToken === undefined ? NATIVE_UNITS : TOKEN_QUOTED_UNITS;
  return { buy: buy + extra, buyWithBudget: buyWithBudget + extra, sell: sell + extra };
}

/** Compute units of each older instruction at most, in the same way. */
export function olderUnitsOf(
  base: Mint,
  extensions: number,
  tierUnits: number,
): Readonly<Record<PumpInstruction, number>> {
  const extra = tierUnits + baseExtra(base, extensions);
  const { buy, buyWithBudget, sell } = OLDER_UNITS;
  return { buy: buy + extra, buyWithBudget: buyWithBudget + extra, sell: sell + extra };
}

/** Addition for creating a token account of the quote mint, without the search for its address. */
export function quoteCreationUnitsOf(quoteToken: Mint | undefined, extensions: number): number {
  return (
    QUOTE_CREATION_UNITS +
    (isToken2022(quoteToken) ? QUOTE_CREATION_2022_UNITS + QUOTE_EXTENSION_UNITS * extensions : 0)
  );
}

const baseExtra = ({ program }: Mint, extensions: number): number =>
  program === TOKEN_PROGRAM ? 0 : BASE_2022_UNITS + BASE_EXTENSION_UNITS * extensions;

const isToken2022 = (mint: Mint | undefined): boolean => mint?.program === TOKEN_2022_PROGRAM;
