import { invalidField, TradewireError } from "../../errors/tradewire-error.ts";
import type { Markets } from "../../market/port.ts";
import { Address } from "../../primitives/address.ts";
import { readU64, viewOf } from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import { extensionsOf, type Mint } from "../../solana/mint.ts";
import { isTokenAccount, TOKEN_ACCOUNT_SIZE, tokenBalance } from "../../solana/token-account.ts";
import type { BalanceShare } from "../intent.ts";
import { heldAccount } from "./assembly.ts";

/** Percents are held in billionths, so that every decimal with up to nine digits is exact. */
const PERCENT_PARTS = 1_000_000_000n;
const WHOLE = 100n * PERCENT_PARTS;
const CLOSE_AUTHORITY_OFFSET = 129;
/** Token-2022: what was withheld of transfers to this account; it must be empty before the account can go. */
const EXTENSION_TRANSFER_FEE_AMOUNT = 2;

/**
 * What a percentage of the wallet's balance comes to now, read from the chain: rounded down to base units, so that 100 % is
 * everything. With everything sold the token account is left empty, and can be closed unless a withheld fee or another
 * close authority stands against it.
 *
 * @param percent 0 < percent ≤ 100
 * @throws TradewireError VALIDATION_ERROR for SOL, INSUFFICIENT_TOKEN_BALANCE, UPSTREAM_ERROR
 */
export async function readBalanceShare(
  markets: Pick<Markets, "account" | "refresh">,
  wallet: Address,
  mint: Mint,
  percent: number,
): Promise<BalanceShare> {
  const source = heldAccount(wallet, mint);
  if (source === undefined) throw invalidField("inMint", "sellPercent sells a token: it cannot be used with SOL.");
  await markets.refresh([source.address]);
  const account = markets.account(source.address);
  const held = account == null || !isTokenAccount(account) ? 0n : tokenBalance(account);
  const share = (held * BigInt(Math.round(percent * Number(PERCENT_PARTS)))) / WHOLE;
  if (share === 0n) {
    throw new TradewireError(
      "INSUFFICIENT_TOKEN_BALANCE",
      `The wallet holds ${held === 0n ? "nothing" : "too little"} of ${mint.address} to sell ${percent} % of it.`,
      { field: "sellPercent", details: { heldRaw: held.toString() } },
    );
  }
  const closes = share === held && isClosable(account!, wallet);
  return { amount: share, emptied: closes ? { address: source.address, lamports: account!.lamports } : undefined };
}

/** True when the account, once empty, can be closed by the wallet. */
function isClosable({ data }: Account, wallet: Address): boolean {
  const hasAuthority = viewOf(data).getUint32(CLOSE_AUTHORITY_OFFSET, true) === 1;
  if (hasAuthority && Address.from(data, CLOSE_AUTHORITY_OFFSET + 4) !== wallet) return false;
  if (data.length === TOKEN_ACCOUNT_SIZE) return true;
  for (const { type, start } of extensionsOf(data)) {
    if (type === EXTENSION_TRANSFER_FEE_AMOUNT && readU64(data, start) !== 0n) return false;
  }
  return true;
}
