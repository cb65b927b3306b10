import { Address } from "../../primitives/address.ts";
import { readU64 } from "../../primitives/bytes.ts";
import type { Account } from "../account.ts";
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../programs.ts";

/** Bytes of a token account without extensions. */
export const TOKEN_ACCOUNT_SIZE = 165;

interface TokenAccount {
  readonly mint: Address;
  readonly owner: Address;
  /** Base units. */
  readonly amount: bigint;
  readonly frozen: boolean;
}

/** True if the account is an initialised token account of either token program. */
export function isTokenAccount(account: Account): boolean {
  if (account.owner !== TOKEN_PROGRAM && account.owner !== TOKEN_2022_PROGRAM) return false;
  const { data } = account;
  return (
    data.length >= TOKEN_ACCOUNT_SIZE &&
    data[108] !== 0 &&
    (data.length === TOKEN_ACCOUNT_SIZE || data[TOKEN_ACCOUNT_SIZE] === 2)
  );
}

/** Reads a token account. @throws RangeError if the data is too short */
export function decodeTokenAccount(account: Account): TokenAccount {
  const { data } = account;
  return {
    mint: Address.from(data, 0),
    owner: Address.from(data, 32),
    amount: readU64(data, 64),
    frozen: isFrozen(account),
  };
}

/** True if nothing can be moved into or out of a token account. */
export function isFrozen({ data }: Account): boolean {
  return data[108] === 2;
}

/** True if the wallet may move what a token account holds. */
export function isOwnedBy({ data }: Account, wallet: Address): boolean {
  return wallet.isAt(data, 32);
}

/** The balance alone, in base units: all that is read of vaults. */
export function tokenBalance(account: Account): bigint {
  return readU64(account.data, 64);
}
