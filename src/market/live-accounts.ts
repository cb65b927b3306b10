import type { FollowedRecord, KnownAccount, StateSource } from "../chain/port.ts";
import type { Address } from "../primitives/address.ts";
import type { Account, AccountView } from "../solana/account.ts";
import { hasSameContent } from "../solana/account-content.ts";

/** Needs accounts kept live, and is notified of their changes. */
export interface AccountHolder {
  /** True if its accounts are not expected to end, see `FollowedRecord`. */
  readonly isLasting?: boolean;
  /** @param account as it is now; undefined if its state is unknown */
  onChange(address: Address, account: Account | null | undefined): void;
}

/** An account in memory. Valid while its address has a holder. */
export interface HeldAccount {
  /** Undefined before the first read, and while its state is unknown. */
  readonly account: Account | null | undefined;
  /** The source's record of it; undefined if the source keeps none. */
  readonly record: FollowedRecord | undefined;
}

interface Entry {
  account: Account | null | undefined;
  record: FollowedRecord | undefined;
  /** A single holder, as most accounts have, a list of a few, or a set of many. */
  holders: AccountHolder | readonly AccountHolder[] | Set<AccountHolder> | undefined;
  /** Resolves after the first read of the account. */
  reading: Promise<void> | undefined;
}

/**
 * Accounts in memory, kept current by a source of changes while they have a holder. An account's object stays the same until
 * its content changes, so that values decoded from it can be kept by identity.
 */
export class LiveAccounts implements AccountView {
  readonly #source: StateSource;
  readonly #entries = new Map<Address, Entry>();

  constructor(source: StateSource) {
    this.#source = source;
    source.onAccount((address, account, _slot, record) => this.#update(address, account, record));
  }

  get(address: Address): Account | null | undefined {
    return this.#entries.get(address)?.account;
  }

  /** The entry of an account that has a holder; valid, without another look-up, while it has one. Undefined if it has none. */
  entryOf(address: Address): HeldAccount | undefined {
    return this.#entries.get(address);
  }

  /**
   * Keeps the accounts live for the holder. Resolves when each has been read; `known` accounts count as read.
   * @throws TradewireError UPSTREAM_ERROR
   */
  async hold(
    holder: AccountHolder,
    addresses: readonly Address[],
    known?: ReadonlyMap<Address, KnownAccount>,
  ): Promise<void> {
    const fresh: Address[] = [];
    const waits = new Set<Promise<void>>();
    for (const address of addresses) {
      let entry = this.#entries.get(address);
      if (entry === undefined) {
        entry = { account: undefined, record: undefined, holders: undefined, reading: undefined };
        this.#entries.set(address, entry);
      }
      addHolder(entry, holder);
      markLasting(entry);
      if (entry.account !== undefined) continue;
      if (entry.reading === undefined) fresh.push(address);
      else waits.add(entry.reading);
    }
    if (fresh.length > 0) waits.add(this.#follow(fresh, known));
    await Promise.all(waits);
  }

  release(holder: AccountHolder, addresses: Iterable<Address>): void {
    const unheld: Address[] = [];
    for (const address of addresses) {
      const entry = this.#entries.get(address);
      if (entry === undefined || !removeHolder(entry, holder)) continue;
      if (entry.holders !== undefined) {
        markLasting(entry);
        continue;
      }
      this.#entries.delete(address);
      unheld.push(address);
    }
    if (unheld.length > 0) this.#source.unfollow(unheld);
  }

  /** Reports held accounts that a trade may be built on. */
  use(addresses: Iterable<Address>): void {
    this.#source.use(addresses);
  }

  /** Reads held accounts again across the network. @throws TradewireError UPSTREAM_ERROR */
  refresh(addresses: readonly Address[]): Promise<void> {
    return this.#source.refresh(addresses);
  }

  /** See `StateSource`. */
  noteWritten(addresses: readonly Address[], slot: bigint): void {
    this.#source.noteWritten(addresses, slot);
  }

  /** See `StateSource`. */
  catchUp(addresses: readonly Address[]): Promise<void> | undefined {
    return this.#source.catchUp(addresses);
  }

  /**
   * The moment up to which the account is known to be current. Epoch milliseconds.
   * @param held of the address: saves a look-up
   * @param enoughMs see `StateSource.currentAtMs`
   */
  currentAtMs(address: Address, held?: HeldAccount, enoughMs?: number): number {
    return this.#source.currentAtMs(address, held?.record, enoughMs);
  }

  /** See `StateSource`. */
  get setbacks(): number {
    return this.#source.setbacks;
  }

  /** Accounts that nothing may be built on now, because the nodes contradict each other about them. */
  contested(): ReadonlySet<Address> {
    return this.#source.contested();
  }

  /** Number of accounts held. */
  size(): number {
    return this.#entries.size;
  }

  #follow(addresses: readonly Address[], known: ReadonlyMap<Address, KnownAccount> | undefined): Promise<void> {
    const reading = this.#source.follow(addresses, known);
    for (const address of addresses) {
      const entry = this.#entries.get(address)!;
      entry.reading = reading;
      entry.record = this.#source.recordOf?.(address);
      if (entry.record === undefined) continue;
      entry.record.kept = entry;
      markLasting(entry);
    }
    const done = () => {
      for (const address of addresses) {
        const entry = this.#entries.get(address);
        if (entry?.reading === reading) entry.reading = undefined;
      }
    };
    reading.then(done, done);
    return reading;
  }

  #update(address: Address, account: Account | null | undefined, record?: FollowedRecord): void {
    // Changes reported while following starts arrive before the entry is stored. An entry released since has no holder.
    const entry = (record?.kept as Entry | undefined) ?? this.#entries.get(address);
    if (entry === undefined) return;
    if (entry.account !== undefined && account !== undefined && hasSameContent(entry.account, account)) return;
    entry.account = account;
    const { holders } = entry;
    if (holders === undefined) return;
    if (isSeveral(holders)) for (const holder of holders) holder.onChange(address, account);
    else holders.onChange(address, account);
  }
}

/** So many holders are a list: a set takes three times the memory, and tens of thousands of mints have two. */
const MOST_LISTED = 4;

type Several = readonly AccountHolder[] | Set<AccountHolder>;

const isSeveral = (holders: AccountHolder | Several): holders is Several =>
  Array.isArray(holders) || holders instanceof Set;

function addHolder(entry: Entry, holder: AccountHolder): void {
  const { holders } = entry;
  if (holders === undefined) entry.holders = holder;
  else if (!isSeveral(holders)) entry.holders = holders === holder ? holder : [holders, holder];
  else if (holders instanceof Set) holders.add(holder);
  else if (!holders.includes(holder))
    entry.holders = holders.length < MOST_LISTED ? [...holders, holder] : new Set([...holders, holder]);
}

/** Tells the source whether any holder expects the account to stay. */
function markLasting({ record, holders }: Entry): void {
  if (record === undefined) return;
  if (holders === undefined) record.isLasting = false;
  else record.isLasting = isSeveral(holders) ? hasLasting(holders) : holders.isLasting === true;
}

/** Stops at the first: a program's configuration is held by every market of it. */
function hasLasting(holders: Several): boolean {
  for (const { isLasting } of holders) if (isLasting === true) return true;
  return false;
}

/** @returns false if it was none of the holders */
function removeHolder(entry: Entry, holder: AccountHolder): boolean {
  const { holders } = entry;
  if (holders === undefined) return false;
  if (holders instanceof Set) {
    const isRemoved = holders.delete(holder);
    if (holders.size === 0) entry.holders = undefined;
    return isRemoved;
  }
  if (!isSeveral(holders)) {
    if (holders !== holder) return false;
    entry.holders = undefined;
    return true;
  }
  const left = holders.filter((one) => one !== holder);
  entry.holders = left.length === 1 ? left[0] : left;
  return left.length < holders.length;
}
