import type { KnownAccount, StateSource } from "../chain/port.ts";
import type { Address } from "../primitives/address.ts";
import type { Account, AccountView } from "../solana/account.ts";
import { hasSameContent } from "../solana/account-content.ts";

/** Someone who needs accounts kept live, and hears when one changes. */
export interface AccountHolder {
  onChange(address: Address): void;
}

/** Accounts in memory, kept current for as long as somebody holds them. */
export interface LiveAccounts extends AccountView {
  /**
   * Keeps the accounts live for the holder. Resolves when each has been read; those that are `known` have been.
   * @throws TradewireError UPSTREAM_ERROR
   */
  hold(holder: AccountHolder, addresses: readonly Address[], known?: ReadonlyMap<Address, KnownAccount>): Promise<void>;
  release(holder: AccountHolder, addresses: Iterable<Address>): void;
  /** Told which held accounts a trade is about to be built on. */
  use(addresses: Iterable<Address>): void;
  /** Reads held accounts again across the network. @throws TradewireError UPSTREAM_ERROR */
  refresh(addresses: readonly Address[]): Promise<void>;
  /** The moment (epoch milliseconds) up to which the account is known to be current. */
  currentAtMs(address: Address): number;
  /** Number of accounts held. */
  size(): number;
}

interface Entry {
  account: Account | null | undefined;
  readonly holders: Set<AccountHolder>;
  /** Resolves when the account has first been read. */
  reading: Promise<void> | undefined;
}

/**
 * The live account view over a source of changes. An account's object stays the same until its content changes, so that what
 * was decoded from it can be kept by identity.
 */
export function createLiveAccounts(source: StateSource): LiveAccounts {
  const entries = new Map<Address, Entry>();

  source.onAccount((address, account) => {
    const entry = entries.get(address);
    if (entry === undefined) return;
    if (entry.account !== undefined && account !== undefined && hasSameContent(entry.account, account)) return;
    entry.account = account;
    for (const holder of entry.holders) holder.onChange(address);
  });

  return {
    get: (address) => entries.get(address)?.account,

    async hold(holder, addresses, known) {
      const fresh: Address[] = [];
      const waits = new Set<Promise<void>>();
      for (const address of addresses) {
        let entry = entries.get(address);
        if (entry === undefined) {
          entry = { account: undefined, holders: new Set(), reading: undefined };
          entries.set(address, entry);
        }
        entry.holders.add(holder);
        if (entry.account !== undefined) continue;
        if (entry.reading === undefined) fresh.push(address);
        else waits.add(entry.reading);
      }
      if (fresh.length > 0) {
        const reading = source.follow(fresh, known);
        for (const address of fresh) entries.get(address)!.reading = reading;
        const done = () => {
          for (const address of fresh) {
            const entry = entries.get(address);
            if (entry?.reading === reading) entry.reading = undefined;
          }
        };
        reading.then(done, done);
        waits.add(reading);
      }
      await Promise.all(waits);
    },

    release(holder, addresses) {
      const unheld: Address[] = [];
      for (const address of addresses) {
        const entry = entries.get(address);
        if (entry === undefined || !entry.holders.delete(holder) || entry.holders.size > 0) continue;
        entries.delete(address);
        unheld.push(address);
      }
      if (unheld.length > 0) source.unfollow(unheld);
    },

    use: (addresses) => source.use(addresses),
    refresh: (addresses) => source.refresh(addresses),
    currentAtMs: (address) => source.currentAtMs(address),
    size: () => entries.size,
  };
}
