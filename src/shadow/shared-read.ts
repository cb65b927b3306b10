import type { Address } from "../primitives/address.ts";
import type { Account } from "../solana/account.ts";

/** Accounts as one read found them; null if there is none. */
export type ReadAccounts = ReadonlyMap<Address, Account | null>;

/** Accounts of one call. */
const ACCOUNTS_PER_CALL = 100;
/** Markets of one call: nodes count calls, and what is read should be checked at once. */
const MARKETS_PER_CALL = 8;
/** Candidates looked at for one call. */
const MAX_SCANNED = 64;

/** Markets whose accounts one call can read. */
interface Shared<T> {
  readonly taken: readonly T[];
  readonly addresses: readonly Address[];
}

/** Takes candidates in order, each if the accounts it needs still fit into one call; the first always. */
export function takeTogether<T>(candidates: Iterable<T>, accountsOf: (one: T) => Iterable<Address>): Shared<T> {
  const taken: T[] = [];
  let addresses = new Set<Address>();
  let toScan = MAX_SCANNED;
  for (const one of candidates) {
    if (taken.length === MARKETS_PER_CALL || --toScan < 0) break;
    const together = new Set(addresses);
    for (const address of accountsOf(one)) together.add(address);
    if (taken.length > 0 && together.size > ACCOUNTS_PER_CALL) continue;
    taken.push(one);
    addresses = together;
  }
  return { taken, addresses: [...addresses] };
}
