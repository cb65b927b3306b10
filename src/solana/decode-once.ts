import type { Account } from "./account.ts";

/**
 * The decoder, but each account object is decoded once: an account in memory is the same object until it changes. For accounts
 * that many markets read, such as settings and mints.
 */
export function decodeOnce<T>(decode: (account: Account) => T): (account: Account) => T {
  const known = new WeakMap<Account, { readonly value: T }>();
  return (account) => {
    let entry = known.get(account);
    if (entry === undefined) {
      entry = { value: decode(account) };
      known.set(account, entry);
    }
    return entry.value;
  };
}
