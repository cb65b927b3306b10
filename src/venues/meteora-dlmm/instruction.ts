import type { Address } from "../../primitives/address.ts";
import { hex } from "../../primitives/bytes.ts";
import { FilledInstruction, InstructionPattern } from "../../solana/instruction.ts";
import { MEMO_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import {
  DESTINATION,
  furtherAccounts,
  ownAccountsWith,
  SOURCE,
  tokenProgramsOf,
  tokenProgramsVariant,
  WALLET,
} from "../swap-pattern.ts";
import type { SwapMode, SwapTerms } from "../venue.ts";
import { bitmapExtensionOf, DLMM_EVENT_AUTHORITY, DLMM_PROGRAM, type DlmmMarket } from "./layout.ts";

/**
 * Variants are the token programs. The program fills the places of the absent host fee account and bitmap extension. The bin arrays, which
 * are the trade's own, are written to, and so is the extension since program 0.12. The last four bytes of the newer data say that no
 * transfer hooks follow.
 */
const pattern = (discriminator: string, isOlder: boolean, extended: boolean) =>
  new InstructionPattern<DlmmMarket>({
    program: DLMM_PROGRAM,
    rights: `w ${extended ? "w" : "r"} ww ww rr w r R rr ${isOlder ? "" : "r"} rr w`,
    accounts: ({ address, reserves, mints, oracle }, variant, own) => [
      address,
      extended ? bitmapExtensionOf(address).address : DLMM_PROGRAM,
      reserves[0],
      reserves[1],
      SOURCE,
      DESTINATION,
      mints[0],
      mints[1],
      oracle,
      DLMM_PROGRAM,
      WALLET,
      ...tokenProgramsOf(variant),
      ...(isOlder ? [] : [MEMO_PROGRAM]),
      DLMM_EVENT_AUTHORITY,
      DLMM_PROGRAM,
      ...furtherAccounts(own),
    ],
    data: () => hex(discriminator.padEnd(isOlder ? 48 : 56, "0")),
    amountsAt: 8,
    amounts: 2,
  });

const patterns = (extended: boolean) => ({
  swap2: pattern("414b3f4ceb5b5b88", false, extended),
  swapExactOut2: pattern("2bd7f784893cf351", false, extended),
  /** The older instructions, which know the SPL Token program alone. */
  swap: pattern("f8c69e91e17587c8", true, extended),
  swapExactOut: pattern("fa49652126cf4bb8", true, extended),
});
const EXTENDED = patterns(true);
const PLAIN = patterns(false);

interface DlmmSwap {
  readonly market: DlmmMarket;
  readonly mints: readonly [Mint, Mint];
  /** True if the pair has a bitmap extension. */
  readonly extended: boolean;
  /** In the order the trade meets them. */
  readonly binArrays: readonly Address[];
  readonly mode: SwapMode;
  readonly amount: bigint;
  /** True for the older instructions, which make the same trade of two SPL Token mints without the memo program. */
  readonly isOlder: boolean;
}

/**
 * The swap instruction. exactIn: `amount` goes in, at least the threshold comes out. exactOut: `amount` comes out, at most
 * the threshold goes in. Amounts are the wallet's side.
 *
 * @see @meteora-ag/dlmm 1.9.14 IDL, instructions swap2 and swap_exact_out2; swap and swap_exact_out
 */
export function dlmmSwap(swap: DlmmSwap, terms: SwapTerms) {
  const { market, mints, extended, binArrays, mode, amount, isOlder } = swap;
  const { swap2, swapExactOut2, swap: older, swapExactOut } = extended ? EXTENDED : PLAIN;
  const variant = tokenProgramsVariant(mints[0].program, mints[1].program);
  const own = ownAccountsWith(terms, binArrays);
  const { threshold } = terms;
  return mode === "exactIn"
    ? new FilledInstruction(isOlder ? older : swap2, market, variant, own, amount, threshold)
    : new FilledInstruction(isOlder ? swapExactOut : swapExactOut2, market, variant, own, threshold, amount);
}
