import { SOL_MINT, TOKEN_2022_PROGRAM } from "../../solana/programs.ts";
import { tokenAccountAddress } from "../verify/derived-address.ts";
import { findSwapTable } from "../verify/match-swap.ts";
import type { ReadTransaction } from "../verify/read-transaction.ts";
import type { TradeExpectation } from "../verify/trade-expectation.ts";

/**
 * True if a fee of the output mint on transfers would pass the trade's bound: the venue compares it with what leaves the pool.
 * Whether the mint takes one only its account says; such venues make no markets for those that do.
 */
export function isBoundGross({ instructions }: ReadTransaction, { wallet, outMint }: TradeExpectation): boolean {
  if (outMint === SOL_MINT) return false;
  const account = tokenAccountAddress(wallet, outMint, TOKEN_2022_PROGRAM);
  return instructions.some(
    (swap) => findSwapTable(swap)?.grossBound === true && swap.accounts.some(({ address }) => address === account),
  );
}
