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
import { DAMM_V2_AUTHORITY, DAMM_V2_EVENT_AUTHORITY, DAMM_V2_PROGRAM, type DammV2Market } from "./layout.ts";

/** Beside the token programs, a variant says whether it names the instructions sysvar, and whether the input is exact. */
const WATCHED = FIRST_OTHER;
const EXACT_IN = 2 * FIRST_OTHER;
/** The last byte of the data. */
const [EXACT_IN_MODE, EXACT_OUT_MODE] = [0, 2];

/** The program also fills the place of the referral account, which is absent. */
const SWAP2 = new InstructionPattern<DammV2Market>({
  program: DAMM_V2_PROGRAM,
  rights: "r w ww ww rr R rr r r r r",
  accounts: ({ address, vaults, mints }, variant) => [
    DAMM_V2_AUTHORITY,
    address,
    SOURCE,
    DESTINATION,
    vaults[0],
    vaults[1],
    mints[0],
    mints[1],
    WALLET,
    ...tokenProgramsOf(variant),
    DAMM_V2_PROGRAM,
    DAMM_V2_EVENT_AUTHORITY,
    DAMM_V2_PROGRAM,
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

interface DammV2Swap {
  readonly market: DammV2Market;
  readonly mints: readonly [Mint, Mint];
  readonly mode: SwapMode;
  readonly amount: bigint;
  /** True adds the instructions sysvar, which a pool with a rate limiter requires for buys. */
  readonly watched: boolean;
}

/**
 * The swap instruction. exactIn: `amount` goes in, at least the threshold comes out. exactOut: `amount` comes out, at most
 * the threshold goes in. Amounts are the wallet's side.
 *
 * @see @meteora-ag/cp-amm-sdk 1.5.0 IDL, instruction swap2
 */
export function dammV2Swap({ market, mints, mode, amount, watched }: DammV2Swap, terms: SwapTerms) {
  const variant =
    tokenProgramsVariant(mints[0].program, mints[1].program) +
    (watched ? WATCHED : 0) +
    (mode === "exactIn" ? EXACT_IN : 0);
  return new FilledInstruction(SWAP2, market, variant, ownAccounts(terms), amount, terms.threshold);
}
