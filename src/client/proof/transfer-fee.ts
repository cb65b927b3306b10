import { SOL_MINT, TOKEN_2022_PROGRAM } from "../../solana/programs.ts";
import { tokenAccountAddress } from "../verify/derived-address.ts";
import { findSwapTable } from "../verify/match-swap.ts";
import type { ReadTransaction } from "../verify/read-transaction.ts";
import type { TradeExpectation } from "../verify/trade-expectation.ts";

/**
 * True if a fee on transfers would pass a bound of the trade: the venue compares it, or may compare it, with what leaves the market,
 * before a fee that the mint received may take. Whether the mint takes one only its account says; LaunchLab makes coins that do.
 */
export function isBoundGross({ instructions }: ReadTransaction, { wallet, legs }: TradeExpectation): boolean {
  const mints = legs.map(({ outMint }) => outMint).filter((mint) => mint !== SOL_MINT);
  const accounts = mints.map((mint) => tokenAccountAddress(wallet, mint, TOKEN_2022_PROGRAM));
  return instructions.some(
    (swap) =>
      findSwapTable(swap)?.grossBound === true && swap.accounts.some(({ address }) => accounts.includes(address)),
  );
}

/** True if less than an exact output may arrive: the venue cuts it down to what its curve has left, and the rest of the input is kept. */
export const mayCutOutput = ({ instructions }: ReadTransaction): boolean =>
  instructions.some((swap) => findSwapTable(swap)?.cuts);
