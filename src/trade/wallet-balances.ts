import type { AccountReader } from "../chain/port.ts";
import type { Address } from "../primitives/address.ts";
import { associatedTokenAccount } from "../solana/derived-address.ts";
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../solana/programs.ts";
import { decodeMint, isMint } from "../solana/token/mint.ts";
import { isTokenAccount, tokenBalance } from "../solana/token/token-account.ts";
import type { WalletBalances } from "./trade.ts";

const PROGRAMS = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM];

/** What a wallet holds: its SOL and, of each mint, the balance of its associated token account. Read from a node in one call. */
export async function fetchBalances(
  reader: AccountReader,
  wallet: Address,
  mints: readonly Address[],
): Promise<WalletBalances> {
  const holders = mints.flatMap((mint) =>
    PROGRAMS.map((program) => associatedTokenAccount(wallet, mint, program).address),
  );
  const { slot, accounts } = await reader.fetchAccounts([wallet, ...mints, ...holders]);
  const tokens = mints.flatMap((mint, i) => {
    const account = accounts[1 + i];
    if (account == null || !isMint(account)) return [];
    const { decimals, program } = decodeMint(account);
    const holder = accounts[1 + mints.length + PROGRAMS.length * i + PROGRAMS.indexOf(program)];
    return [{ mint, decimals, amount: holder == null || !isTokenAccount(holder) ? 0n : tokenBalance(holder) }];
  });
  return { wallet, lamports: accounts[0]?.lamports ?? 0n, tokens, slot };
}
