import { invalidField, TradewireError } from "../../errors/tradewire-error.ts";
import type { Markets } from "../../market/port.ts";
import { Address } from "../../primitives/address.ts";
import { viewOf } from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import { holdsHidden } from "../../solana/token/account-extensions.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { isTokenAccount, tokenBalance } from "../../solana/token/token-account.ts";
import type { BalanceShare } from "../intent.ts";
import type { UnclosableAccounts } from "../unclosable-accounts.ts";
import { walletTokenAccount } from "./wallet-accounts.ts";

/** Percents are counted in billionths, so that nine decimals are exact. */
const PERCENT_PARTS = 1_000_000_000n;
const WHOLE = 100n * PERCENT_PARTS;
/** Set in wrapped-SOL accounts, whose tokens are the account's own lamports. */
const NATIVE_OFFSET = 109;
const CLOSE_AUTHORITY_OFFSET = 129;

type ShareReader = Pick<Markets, "account">;

/**
 * Reads the wallet's balance and returns a percentage of it, as `balanceShareOf`.
 *
 * @throws TradewireError as `balanceShareOf`; also VALIDATION_ERROR for SOL, UPSTREAM_ERROR, STATE_STALE if the balance is not known now
 */
export async function readBalanceShare(
  markets: ShareReader & Pick<Markets, "refresh">,
  wallet: Address,
  mint: Mint,
  percent: number,
  unclosable?: Pick<UnclosableAccounts, "has">,
): Promise<BalanceShare> {
  const source = walletTokenAccount(wallet, mint);
  if (source === undefined) throw invalidField("inMint", "sellPercent sells a token: it cannot be used with SOL.");
  await markets.refresh([source.address]);
  const share = balanceShareOf(markets, wallet, mint, percent, unclosable);
  if (share === undefined) throw unknownBalance(mint);
  return share;
}

/**
 * A percentage of the wallet's balance in memory, in base units, rounded down: 100 % is everything. Selling everything empties the token
 * account; it can be closed unless it holds withheld fees or a confidential balance, or has another close authority, or could not be closed
 * before. Undefined if the balance is not known.
 *
 * @param percent 0 < percent ≤ 100
 * @throws TradewireError INSUFFICIENT_TOKEN_BALANCE
 */
export function balanceShareOf(
  markets: ShareReader,
  wallet: Address,
  mint: Mint,
  percent: number,
  unclosable?: Pick<UnclosableAccounts, "has">,
): BalanceShare | undefined {
  const { address } = walletTokenAccount(wallet, mint)!;
  const account = markets.account(address);
  if (account === undefined) return undefined;
  const held = account === null || !isTokenAccount(account) ? 0n : tokenBalance(account);
  const share = (held * BigInt(Math.round(percent * Number(PERCENT_PARTS)))) / WHOLE;
  if (share === 0n) {
    throw new TradewireError(
      "INSUFFICIENT_TOKEN_BALANCE",
      held === 0n
        ? `The wallet holds no ${mint.address}.`
        : `The wallet holds too little of ${mint.address}: ${percent} % of it is less than one base unit.`,
      { field: "sellPercent", details: { heldRaw: held.toString() } },
    );
  }
  const closes = share === held && isClosable(account!, wallet) && unclosable?.has(address) !== true;
  return { amount: share, emptied: closes ? { address, lamports: account!.lamports } : undefined };
}

function unknownBalance({ address }: Mint): TradewireError {
  return new TradewireError(
    "STATE_STALE",
    `The newest balance of ${address} in the wallet is not known yet. Try again shortly.`,
    { retryAfterMs: 400 },
  );
}

/**
 * True if the wallet can close the account once it is empty and gets all the lamports that it holds now. Not so for wrapped SOL (Token-2022
 * has it too): the lamports sold leave first.
 */
function isClosable(account: Account, wallet: Address): boolean {
  const { data } = account;
  const view = viewOf(data);
  if (view.getUint32(NATIVE_OFFSET, true) === 1) return false;
  const hasAuthority = view.getUint32(CLOSE_AUTHORITY_OFFSET, true) === 1;
  if (hasAuthority && Address.from(data, CLOSE_AUTHORITY_OFFSET + 4) !== wallet) return false;
  return !holdsHidden(account);
}
