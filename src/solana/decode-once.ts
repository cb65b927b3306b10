import type { Account } from "./account.ts";

/** Stands for what decodes to nothing. */
const NOTHING = Symbol();

/**
 * The decoder, but each account object is decoded once: an account in memory is the same object until it changes. For accounts
 * that many markets read, such as settings and mints.
 */
export function decodeOnce<T>(decode: (account: Account) => T): (account: Account) => T {
  const known = new WeakMap<Account, T | typeof NOTHING>();
  return (account) => {
    const kept = known.get(account);
    if (kept !== undefined) return kept === NOTHING ? (undefined as T) : (kept as T);
    const value = decode(account);
    known.set(account, value === undefined ? NOTHING : value);
    return value;
  };
}

/**
 * As `decodeOnce`, for a decoder that takes more than the account, or the market: another decoding with the same terms
 * gives the same object. Of each account or market, the last one is kept.
 */
export function decodeOnceFor<Subject extends object, Terms extends readonly unknown[], T>(
  decode: (subject: Subject, ...terms: Terms) => T,
): (subject: Subject, ...terms: Terms) => T {
  const known = new WeakMap<Subject, { readonly terms: Terms; readonly value: T }>();
  return (subject, ...terms) => {
    const entry = known.get(subject);
    if (entry !== undefined && hasSameItems(entry.terms, terms)) return entry.value;
    const value = decode(subject, ...terms);
    known.set(subject, { terms, value });
    return value;
  };
}

/**
 * As `decodeOnce`, for what is made of several accounts of a market: the same accounts at the same places give the same object.
 * Of each market, the last one is kept.
 */
export function decodeTogether<Subject extends object, Part extends Account | null | undefined, T>(
  decode: (subject: Subject, places: readonly number[], accounts: readonly Part[]) => T,
): (subject: Subject, places: readonly number[], accounts: readonly Part[]) => T {
  const known = new WeakMap<
    Subject,
    { readonly places: readonly number[]; readonly accounts: readonly Part[]; readonly value: T }
  >();
  return (subject, places, accounts) => {
    const last = known.get(subject);
    if (last !== undefined && hasSameItems(last.accounts, accounts) && hasSameItems(last.places, places))
      return last.value;
    const value = decode(subject, places, accounts);
    known.set(subject, { places, accounts, value });
    return value;
  };
}

function hasSameItems<T>(one: readonly T[], other: readonly T[]): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}
