import { hex } from "../../primitives/bytes.ts";
import { FilledInstruction, InstructionPattern } from "../../solana/instruction.ts";
import { INSTRUCTIONS_SYSVAR } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import {
  DESTINATION,
  FIRST_OTHER,
  ownAccounts,
  SOURCE,
  tokenProgramsOf,
  tokenProgramsVariant,
  WALLET,
} from "../swap-pattern.ts";
import type { SwapMode, SwapTerms } from "../venue.ts";
import { DBC_AUTHORITY, DBC_EVENT_AUTHORITY, DBC_PROGRAM, type DbcMarket } from "./layout.ts";

/** Beside the token programs, a variant says whether it names the instructions sysvar, and whether the input is exact. */
const WATCHED = FIRST_OTHER;
const EXACT_IN = 2 * FIRST_OTHER;
/** The last byte of the data. */
const [EXACT_IN_MODE, EXACT_OUT_MODE] = [0, 2];

/** The program also fills the place of the referral account, which is absent. */
const SWAP2 = new InstructionPattern<DbcMarket>({
  program: DBC_PROGRAM,
  rights: "rr w ww ww rr R rr r r r r",
  accounts: ({ address, config, vaults, mints }, variant) => [
    DBC_AUTHORITY,
    config,
    address,
    SOURCE,
    DESTINATION,
    vaults[0],
    vaults[1],
    mints[0],
    mints[1],
    WALLET,
    ...tokenProgramsOf(variant),
    DBC_PROGRAM,
    DBC_EVENT_AUTHORITY,
    DBC_PROGRAM,
    ...((variant & WATCHED) === 0 ? [] : [INSTRUCTIONS_SYSVAR]),
  ],
  data: (variant) => {
    const data = hex("414b3f4ceb5b5b88".padEnd(50, "0"));
    data[24] = (variant & EXACT_IN) === 0 ? EXACT_OUT_MODE : EXACT_IN_MODE;
    return data;
  },
  amountsAt: 8,
  amounts: 2,
});

interface DbcSwap {
  readonly market: DbcMarket;
  readonly mints: readonly [Mint, Mint];
  readonly mode: SwapMode;
  readonly amount: bigint;
  /** True adds the instructions sysvar, which the program reads for rate limiters and for first swaps. */
  readonly watched: boolean;
}

/**
 * The swap instruction. exactIn: `amount` goes in, at least the threshold comes out. exactOut: `amount` comes out, at most
 * the threshold goes in.
 *
 * @see @meteora-ag/dynamic-bonding-curve-sdk 1.5.12 IDL, instruction swap2
 */
export function dbcSwap({ market, mints, mode, amount, watched }: DbcSwap, terms: SwapTerms) {
  const variant =
    tokenProgramsVariant(mints[0].program, mints[1].program) +
    (watched ? WATCHED : 0) +
    (mode === "exactIn" ? EXACT_IN : 0);
  return new FilledInstruction(SWAP2, market, variant, ownAccounts(terms), amount, terms.threshold);
}
