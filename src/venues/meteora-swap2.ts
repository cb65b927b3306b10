import type { Address } from "../primitives/address.ts";
import { hex } from "../primitives/bytes.ts";
import { FilledInstruction, InstructionPattern } from "../solana/instruction.ts";
import { INSTRUCTIONS_SYSVAR } from "../solana/programs.ts";
import type { Mint } from "../solana/token/mint.ts";
import {
  DESTINATION,
  FIRST_OTHER,
  ownAccounts,
  SOURCE,
  tokenProgramsOf,
  tokenProgramsVariant,
  WALLET,
} from "./swap-pattern.ts";
import type { SwapMode, SwapTerms } from "./venue.ts";

/** Beside the token programs, a variant says whether it names the instructions sysvar, and whether the input is exact. */
const WATCHED = FIRST_OTHER;
const EXACT_IN = 2 * FIRST_OTHER;
/** The last byte of the data. */
const [EXACT_IN_MODE, EXACT_OUT_MODE] = [0, 2];

interface Swap2Market {
  readonly vaults: readonly [Address, Address];
  readonly mints: readonly [Address, Address];
}

/** The differences between the two programs' instructions. */
interface Swap2Program<Market> {
  readonly program: Address;
  readonly eventAuthority: Address;
  /** The accounts before the wallet's, which differ, and their rights, as `rightsOf` takes them. */
  readonly start: (market: Market) => readonly Address[];
  readonly startRights: string;
}

interface Swap2<Market> {
  readonly market: Market;
  readonly mints: readonly [Mint, Mint];
  readonly mode: SwapMode;
  readonly amount: bigint;
  /** True adds the instructions sysvar, which the program reads. */
  readonly watched: boolean;
}

/**
 * The instruction `swap2` of Meteora's DAMM v2 and DBC, which have the same arguments and, but for the first, the same accounts. The
 * program also fills the place of the referral account, which is absent.
 *
 * @returns makes the instruction. exactIn: `amount` goes in, at least the threshold comes out. exactOut: `amount` comes out, at most the
 * threshold goes in. Amounts are the wallet's side
 */
export function meteoraSwap2<Market extends Swap2Market>({
  program,
  eventAuthority,
  start,
  startRights,
}: Swap2Program<Market>): (swap: Swap2<Market>, terms: SwapTerms) => FilledInstruction<Market> {
  const pattern = new InstructionPattern<Market>({
    program,
    rights: `${startRights} ww ww rr R rr r r r r`,
    accounts: (market, variant) => [
      ...start(market),
      SOURCE,
      DESTINATION,
      market.vaults[0],
      market.vaults[1],
      market.mints[0],
      market.mints[1],
      WALLET,
      ...tokenProgramsOf(variant),
      program,
      eventAuthority,
      program,
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
  return ({ market, mints, mode, amount, watched }, terms) => {
    const variant =
      tokenProgramsVariant(mints[0].program, mints[1].program) +
      (watched ? WATCHED : 0) +
      (mode === "exactIn" ? EXACT_IN : 0);
    return new FilledInstruction(pattern, market, variant, ownAccounts(terms), amount, terms.threshold);
  };
}
