import type { Address } from "../../primitives/address.ts";
import type { Account } from "../../solana/account.ts";
import { decodeMint, isMint } from "../../solana/token/mint.ts";
import { decodeTokenAccount, isTokenAccount } from "../../solana/token/token-account.ts";
import type { TokenBalance } from "./ledger.ts";

/** Token balances of a transaction's accounts, in message order. Accounts that hold no tokens are left out. */
export function tokenBalances(
  accounts: readonly (Account | null)[],
  accountAt: (address: Address) => Account | null,
): TokenBalance[] {
  const balances: TokenBalance[] = [];
  accounts.forEach((account, accountIndex) => {
    if (account === null || !isTokenAccount(account)) return;
    const { mint, owner, amount } = decodeTokenAccount(account);
    const mintAccount = accountAt(mint);
    if (mintAccount === null || !isMint(mintAccount)) return;
    const { decimals } = decodeMint(mintAccount);
    balances.push({ accountIndex, mint, owner, program: account.owner, amount, decimals });
  });
  return balances;
}
