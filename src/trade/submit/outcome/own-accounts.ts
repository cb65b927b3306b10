import type { TransactionRecord } from "../../../chain/port.ts";
import type { Address } from "../../../primitives/address.ts";
import { associatedTokenAddress } from "../../../solana/pda.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../solana/programs.ts";
import type { SealedTrade } from "../../build/token/sealed-trade.ts";

/** What a build has written down of the wallet's accounts, and what for. */
export type OwnTrade = Pick<SealedTrade, "wallet" | "inMint" | "route" | "creates" | "closes">;

type Balances = Pick<TransactionRecord, "accounts" | "preBalances" | "preTokenBalances">;

/** The input of a trade as it was quoted. Base units. */
export function quotedInput({ inMint, route }: Pick<OwnTrade, "inMint" | "route">): bigint {
  return route.reduce((sum, leg) => (leg.inMint === inMint ? sum + leg.inAmount : sum), 0n);
}

/** The tokens of a mint that the wallet's accounts in a transaction held before it. Base units. */
export function heldBefore(wallet: Address, mint: Address, record: Pick<Balances, "preTokenBalances">): bigint {
  return record.preTokenBalances.reduce(
    (sum, entry) => (entry.owner === wallet && entry.mint === mint ? sum + entry.amount : sum),
    0n,
  );
}

/** The tokens that arrived, after its build, in the account that a sale closes. Base units. */
export function arrivedSince(trade: OwnTrade, record: Balances): bigint {
  return heldBefore(trade.wallet, trade.inMint, record) - quotedInput(trade);
}

/**
 * The mints of a route, its input first, for which the wallet had no token account any more before the transaction, though the build had
 * found one. SOL is not among them.
 */
export function closedSince(trade: OwnTrade, record: Balances): readonly Address[] {
  const { wallet, inMint, route, creates } = trade;
  const mints = new Set([inMint, ...route.flatMap((leg) => [leg.inMint, leg.outMint])]);
  mints.delete(SOL_MINT);
  const isGone = (address: Address): boolean => {
    const index = record.accounts.indexOf(address);
    return index >= 0 && record.preBalances[index] === 0n && creates.every((created) => created.address !== address);
  };
  return [...mints].filter((mint) =>
    [TOKEN_PROGRAM, TOKEN_2022_PROGRAM].some((program) => isGone(associatedTokenAddress(wallet, mint, program))),
  );
}
