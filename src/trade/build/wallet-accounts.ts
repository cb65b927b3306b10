import type { Principal } from "../../accounts/port.ts";
import type { Markets } from "../../market/port.ts";
import type { Address } from "../../primitives/address.ts";
import type { Account } from "../../solana/account.ts";
import { associatedTokenAccount, type DerivedAddress } from "../../solana/derived-address.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { isCpiGuarded, takesNoDeposits, wantsMemo } from "../../solana/token/account-extensions.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { isFrozen, isOwnedBy, isTokenAccount } from "../../solana/token/token-account.ts";
import type { RouteStep } from "../quote/route.ts";

/** A token account of the wallet. */
interface WalletTokenAccount extends DerivedAddress {
  readonly mint: Address;
}

/** The wallet's own accounts that a trade touches. */
export interface WalletAccounts {
  readonly wallet: Address;
  /** Associated token account of each side; undefined on the SOL side. */
  readonly source: WalletTokenAccount | undefined;
  readonly destination: WalletTokenAccount | undefined;
  /** Accounts of the mints that a route buys in one market and sells in the next. */
  readonly intermediate: readonly { readonly mint: Mint; readonly account: WalletTokenAccount }[];
}

const NO_INTERMEDIATE: WalletAccounts["intermediate"] = [];

/** Where the wallet keeps both sides of a trade. */
export function walletAccounts({ wallet }: Pick<Principal, "wallet">, inMint: Mint, outMint: Mint): WalletAccounts {
  return {
    wallet,
    source: walletTokenAccount(wallet, inMint),
    destination: walletTokenAccount(wallet, outMint),
    intermediate: NO_INTERMEDIATE,
  };
}

/** The wallet's associated token account of a mint; undefined for SOL, which the wallet holds as lamports. */
export function walletTokenAccount(wallet: Address, mint: Mint): WalletTokenAccount | undefined {
  if (mint.address === SOL_MINT) return undefined;
  return associatedTokenAccount(wallet, mint.address, mint.program);
}

/** The wallet's own wrapped-SOL account. */
export function wrappedSolAccount(wallet: Address): DerivedAddress {
  return associatedTokenAccount(wallet, SOL_MINT, TOKEN_PROGRAM);
}

/** The accounts to read before a trade's balances can be checked, the wallet's wrapped-SOL account among them. */
export function balanceAddresses({ wallet, source, destination }: WalletAccounts): readonly Address[] {
  const wrapped = wrappedSolAccount(wallet).address;
  return [wallet, wrapped, ...(source ? [source.address] : []), ...(destination ? [destination.address] : [])];
}

/** True when the wallet and both of its token accounts are in memory, existing or known to be missing. */
export function knowsBalances(
  markets: Pick<Markets, "account">,
  { wallet, source, destination }: WalletAccounts,
): boolean {
  return (
    markets.account(wallet) !== undefined &&
    (source === undefined || markets.account(source.address) !== undefined) &&
    (destination === undefined || markets.account(destination.address) !== undefined)
  );
}

/** Why a wallet cannot use a token account at an address of its own, in words. */
export type AccountFault = string;

/**
 * What is wrong with a token account at the wallet's associated address; undefined if nothing is known to be wrong. The issuer may have
 * frozen it, or its owner may have been changed: then somebody else would get what is bought, and a sale would fail and cost a fee.
 */
function accountFault(account: Account | null | undefined, wallet: Address): AccountFault | undefined {
  if (account == null || !isTokenAccount(account)) return undefined;
  if (isFrozen(account)) return "is frozen";
  return isOwnedBy(account, wallet) ? undefined : "belongs to another wallet";
}

/** The same for an account from which a venue's program takes tokens. */
export function payingFault(account: Account | null | undefined, wallet: Address): AccountFault | undefined {
  const fault = accountFault(account, wallet);
  if (fault !== undefined || account == null || !isCpiGuarded(account)) return fault;
  return "has its CPI guard on, so that no venue can take tokens from it";
}

/** The same for an account into which venues' programs pay tokens of a mint. @param steps those of other mints do not count */
export function receivingFault(
  account: Account | null | undefined,
  wallet: Address,
  steps: readonly RouteStep[],
  mint: Address,
): AccountFault | undefined {
  const fault = accountFault(account, wallet);
  if (fault !== undefined || account == null) return fault;
  if (takesNoDeposits(account)) return "takes confidential transfers only";
  if (!wantsMemo(account)) return undefined;
  const silent = steps.find(({ hot, quote }) => quote.outMint === mint && hot.venue.supports.memo !== true);
  return silent && `takes only transfers with a memo, and ${silent.hot.venue.id} sends none`;
}
