import type { Address } from "../../primitives/address.ts";
import { associatedTokenAddress } from "../../solana/pda.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { TokenBalanceRecord, TransactionRecord } from "../port.ts";
import { NodeError } from "./node-error.ts";
import { asAddress, asInteger, asIntegerText, asList, asRecord } from "./rpc-values.ts";

const WHAT = "token balances";

/** One list of a record's token balances. @throws TradewireError UPSTREAM_ERROR, also for two balances of one account */
export function decodeTokenBalances(value: unknown, accounts: readonly Address[]): readonly TokenBalanceRecord[] {
  const seen = new Set<number>();
  return asList(value, WHAT).map((entry) => {
    const record = asRecord(entry, WHAT);
    const accountIndex = Number(asInteger(record.accountIndex, WHAT));
    if (accountIndex >= accounts.length || seen.has(accountIndex))
      throw new NodeError("malformed", "A Solana node answered with a token balance of no account, or two of one.");
    seen.add(accountIndex);
    const mint = asAddress(record.mint, WHAT);
    const { owner } = record;
    return {
      accountIndex,
      mint,
      owner: owner === undefined || owner === null ? payerAs(accounts, accountIndex, mint) : asAddress(owner, WHAT),
      amount: asIntegerText(asRecord(record.uiTokenAmount, WHAT).amount, WHAT),
    };
  });
}

/** Nodes may leave owners out. The payer's accounts, which alone count, are known by their addresses. */
function payerAs(accounts: readonly Address[], index: number, mint: Address): Address | undefined {
  const payer = accounts[0]!;
  const isPayers = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM].some(
    (program) => associatedTokenAddress(payer, mint, program) === accounts[index],
  );
  return isPayers ? payer : undefined;
}

/**
 * False if a balance of the payer is missing from one list: with it the payer would seem to have gained or lost all that it holds. An account
 * that is gone afterwards holds no lamports. One that is new may have held some, but its tokens come from another account.
 */
export function hasWholeBalances(record: TransactionRecord): boolean {
  const { accounts, preBalances, postBalances, preTokenBalances: before, postTokenBalances: after } = record;
  const missingFrom = (list: readonly TokenBalanceRecord[], others: readonly TokenBalanceRecord[]) =>
    others.filter(
      ({ owner, accountIndex }) => owner === accounts[0] && !list.some((entry) => entry.accountIndex === accountIndex),
    );
  const isGone = missingFrom(after, before).every(({ accountIndex }) => postBalances[accountIndex] === 0n);
  return (
    isGone &&
    missingFrom(before, after).every(
      ({ accountIndex, mint }) =>
        preBalances[accountIndex] === 0n || mint === SOL_MINT || totalOf(after, mint) <= totalOf(before, mint),
    )
  );
}

function totalOf(balances: readonly TokenBalanceRecord[], mint: Address): bigint {
  return balances.reduce((sum, entry) => (entry.mint === mint ? sum + entry.amount : sum), 0n);
}
