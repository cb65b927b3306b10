import bs58 from "bs58";
import type { Address } from "../../primitives/address.ts";
import { equalBytes } from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import { feeOf } from "../transaction/fees.ts";
import { isWritableIndex, type WireTransaction } from "../transaction/wire-transaction.ts";
import type { Execution } from "./bank.ts";
import type { LandedTransaction } from "./ledger.ts";
import { tokenBalances } from "./token-balances.ts";

/** What executing a transaction in a slot did. Accounts are in message order, loaded addresses at the end. */
interface Run {
  readonly slot: number;
  readonly accounts: readonly Address[];
  readonly loaded: { readonly writable: readonly Address[]; readonly readonly: readonly Address[] };
  readonly before: readonly (Account | null)[];
  readonly after: readonly (Account | null)[];
  readonly execution: Execution;
}

/** An account that a transaction changed: null if it did not exist before, or no longer does. */
interface Change {
  readonly address: Address;
  readonly was: Account | null;
  readonly is: Account | null;
}

/** The record of a transaction that landed. `accountAt` finds the mints of its token balances. */
export function landedTransaction(
  wire: WireTransaction,
  run: Run,
  accountAt: (address: Address) => Account | null,
): LandedTransaction {
  const preBalances = run.before.map((account) => account?.lamports ?? 0n);
  const postBalances = run.after.map((account) => account?.lamports ?? 0n);
  return {
    signature: bs58.encode(wire.signatures[0]!),
    slot: run.slot,
    wire,
    accounts: run.accounts,
    writable: new Set(run.accounts.filter((_, index) => isWritableIndex(wire, index))),
    loaded: run.loaded,
    execution: run.execution,
    // Lamports only move between the accounts of a transaction; what is missing afterwards is the fee.
    feeLamports: sum(preBalances) - sum(postBalances),
    unitPriceMicroLamports: feeOf(wire).unitPriceMicroLamports,
    preBalances,
    postBalances,
    preTokenBalances: tokenBalances(run.before, accountAt),
    postTokenBalances: tokenBalances(run.after, accountAt),
  };
}

/** The accounts whose state differs, in message order. */
export function changesOf({ accounts, before, after }: Pick<Run, "accounts" | "before" | "after">): Change[] {
  return accounts
    .map((address, index) => ({ address, was: before[index] ?? null, is: after[index] ?? null }))
    .filter(({ was, is }) => !(was === is || (was !== null && is !== null && isSameState(was, is))));
}

/** The total of some lamports. */
export function sum(values: readonly bigint[]): bigint {
  let total = 0n;
  for (const value of values) total += value;
  return total;
}

function isSameState(a: Account, b: Account): boolean {
  return a.lamports === b.lamports && a.owner === b.owner && equalBytes(a.data, b.data);
}
