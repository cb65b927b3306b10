import { hex, pooledBytes, writeU64 } from "../../primitives/bytes.ts";
import { type AccountMeta, type Instruction, readonly, readonlySigner, writable } from "../../solana/instruction.ts";
import { MEMO_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import type { SwapMode, SwapTerms } from "../venue.ts";
import { bitmapExtensionOf, DLMM_EVENT_AUTHORITY, DLMM_PROGRAM, type DlmmMarket } from "./layout.ts";

const SWAP2 = hex("414b3f4ceb5b5b88");
const SWAP_EXACT_OUT2 = hex("2bd7f784893cf351");
/** The older instructions, which know the SPL Token program alone. */
const SWAP = hex("f8c69e91e17587c8");
const SWAP_EXACT_OUT = hex("fa49652126cf4bb8");

/** Also fills the places of the absent host fee account and bitmap extension. */
const program = readonly(DLMM_PROGRAM);
const eventAuthority = readonly(DLMM_EVENT_AUTHORITY);
const memo = readonly(MEMO_PROGRAM);

/** The accounts of a swap that depend only on the pair. */
export interface DlmmAccounts {
  readonly pair: AccountMeta;
  readonly extension: AccountMeta;
  readonly reserveX: AccountMeta;
  readonly reserveY: AccountMeta;
  readonly mintX: AccountMeta;
  readonly mintY: AccountMeta;
  readonly oracle: AccountMeta;
  readonly programX: AccountMeta;
  readonly programY: AccountMeta;
}

/** Prepared once per change of the pair. The extension is written to since program 0.12. */
export function dlmmAccounts(market: DlmmMarket, mints: readonly [Mint, Mint], extended: boolean): DlmmAccounts {
  return {
    pair: writable(market.address),
    extension: extended ? writable(bitmapExtensionOf(market.address).address) : program,
    reserveX: writable(market.reserves[0]),
    reserveY: writable(market.reserves[1]),
    mintX: readonly(market.mints[0]),
    mintY: readonly(market.mints[1]),
    oracle: writable(market.oracle),
    programX: readonly(mints[0].program),
    programY: readonly(mints[1].program),
  };
}

interface DlmmSwap {
  readonly accounts: DlmmAccounts;
  /** Writable, in the order the trade meets them. */
  readonly binArrays: readonly AccountMeta[];
  readonly mode: SwapMode;
  readonly amount: bigint;
  /** True for the older instructions, which make the same trade of two SPL Token mints without the memo program. */
  readonly isOlder: boolean;
}

/**
 * The swap instruction. exactIn: `amount` goes in, at least the threshold comes out. exactOut: `amount` comes out, at most
 * the threshold goes in. Amounts are the wallet's side. The last four bytes say that no transfer hooks follow.
 *
 * @see @meteora-ag/dlmm 1.9.14 IDL, instructions swap2 and swap_exact_out2; swap and swap_exact_out
 */
export function dlmmSwap(swap: DlmmSwap, terms: SwapTerms): Instruction {
  const { accounts, binArrays, mode, amount, isOlder } = swap;
  const data = pooledBytes(isOlder ? 24 : 28);
  if (mode === "exactIn") {
    data.set(isOlder ? SWAP : SWAP2);
    writeU64(data, 8, amount);
    writeU64(data, 16, terms.threshold);
  } else {
    data.set(isOlder ? SWAP_EXACT_OUT : SWAP_EXACT_OUT2);
    writeU64(data, 8, terms.threshold);
    writeU64(data, 16, amount);
  }
  return {
    program: DLMM_PROGRAM,
    accounts: [
      accounts.pair,
      accounts.extension,
      accounts.reserveX,
      accounts.reserveY,
      writable(terms.source),
      writable(terms.destination),
      accounts.mintX,
      accounts.mintY,
      accounts.oracle,
      program,
      readonlySigner(terms.wallet),
      accounts.programX,
      accounts.programY,
      ...(isOlder ? [] : [memo]),
      eventAuthority,
      program,
      ...binArrays,
    ],
    data,
  };
}
