import type { Address } from "../../primitives/address.ts";
import { hex } from "../../primitives/bytes.ts";
import { FilledInstruction, InstructionPattern } from "../../solana/instruction.ts";
import { MEMO_PROGRAM } from "../../solana/programs.ts";
import {
  DESTINATION,
  FIRST_OTHER,
  furtherAccounts,
  ownAccountsWith,
  SOURCE,
  tokenProgramsOf,
  tokenProgramsVariant,
  WALLET,
} from "../swap-pattern.ts";
import type { SwapMode, SwapTerms } from "../venue.ts";
import { WHIRLPOOL_PROGRAM, type WhirlpoolMarket } from "./layout.ts";

/** Beside the token programs, a variant says the direction, and whether the input is exact. */
const A_TO_B = FIRST_OTHER;
const EXACT_IN = 2 * FIRST_OTHER;

/** The data without the amounts and, at the end, without what `swap_v2` has after them. */
const dataOf = (discriminator: string, length: number) => (variant: number) => {
  const data = hex(discriminator.padEnd(2 * length, "0"));
  data[40] = (variant & EXACT_IN) === 0 ? 0 : 1;
  data[41] = (variant & A_TO_B) === 0 ? 0 : 1;
  return data;
};

/** The token accounts of both sides, the tick arrays and the oracle. */
const rest = ({ vaults, oracle }: WhirlpoolMarket, variant: number, own: number) => {
  const aToB = (variant & A_TO_B) !== 0;
  const [a, b] = aToB ? [SOURCE, DESTINATION] : [DESTINATION, SOURCE];
  return [a, vaults[0], b, vaults[1], ...furtherAccounts(own), oracle];
};

const SWAP_V2 = new InstructionPattern<WhirlpoolMarket>({
  program: WHIRLPOOL_PROGRAM,
  rights: "rr r R w rr ww ww www w",
  accounts: (market, variant, own) => {
    const { address, mints } = market;
    const start = [...tokenProgramsOf(variant), MEMO_PROGRAM, WALLET, address, mints[0], mints[1]];
    return [...start, ...rest(market, variant, own)];
  },
  data: dataOf("2b04ed0b1ac91e62", 43),
  amountsAt: 8,
  amounts: 2,
});

/** The older instruction, which knows the SPL Token program alone. */
const SWAP = new InstructionPattern<WhirlpoolMarket>({
  program: WHIRLPOOL_PROGRAM,
  rights: "r R w ww ww www w",
  accounts: (market, variant, own) => [
    tokenProgramsOf(variant)[0],
    WALLET,
    market.address,
    ...rest(market, variant, own),
  ],
  data: dataOf("f8c69e91e17587c8", 42),
  amountsAt: 8,
  amounts: 2,
});

interface WhirlpoolSwap {
  readonly market: WhirlpoolMarket;
  readonly tokenPrograms: readonly [Address, Address];
  /** In any order, and one may repeat; those not initialised count as empty. */
  readonly tickArrays: readonly [Address, Address, Address];
  readonly aToB: boolean;
  readonly mode: SwapMode;
  readonly amount: bigint;
  /** True for `swap`, which makes the same trade of two SPL Token mints and names four accounts fewer. */
  readonly isOlder: boolean;
}

/**
 * The `swap_v2` instruction, without a price limit and without extra accounts. exactIn: `amount` goes in, at least the
 * threshold comes out. exactOut: `amount` comes out, at most the threshold goes in. Amounts are the wallet's side.
 *
 * @see Orca whirlpools, program of October 2024, `instructions/v2/swap.rs`
 */
export function whirlpoolSwap(swap: WhirlpoolSwap, terms: SwapTerms) {
  const { market, tokenPrograms, tickArrays, aToB, mode, amount, isOlder } = swap;
  const variant =
    tokenProgramsVariant(tokenPrograms[0], tokenPrograms[1]) +
    (aToB ? A_TO_B : 0) +
    (mode === "exactIn" ? EXACT_IN : 0);
  const own = ownAccountsWith(terms, tickArrays);
  return new FilledInstruction(isOlder ? SWAP : SWAP_V2, market, variant, own, amount, terms.threshold);
}
