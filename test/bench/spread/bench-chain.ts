import type { AccountReader } from "../../../src/chain/port.ts";
import type { AccountFeed, FeedListener } from "../../../src/chain/state/account-feed.ts";
import type { Address } from "../../../src/primitives/address.ts";
import type { Account } from "../../../src/solana/account.ts";

/** How often a slot begins. Milliseconds. */
const SLOT_MS = 200;

/** Where an account is kept: found once, what changes it again and again looks it up no more. */
export interface AccountPlace {
  account: Account;
}

/** Accounts in memory behind the ports of a node: everything can be read, every change is streamed. */
export class BenchChain {
  readonly #places = new Map<Address, AccountPlace>();
  readonly reader: AccountReader;
  readonly feed: AccountFeed;
  #slot: bigint;
  #listener: FeedListener | undefined;
  #liveAtMs = Date.now();
  #order = 0;
  #slots: NodeJS.Timeout | undefined;

  constructor(slot: bigint) {
    this.#slot = slot;
    this.reader = {
      fetchAccounts: async (addresses) => ({
        slot: this.#slot,
        accounts: addresses.map((address) => {
          const place = this.#places.get(address);
          return place === undefined ? null : { ...place.account, slot: this.#slot };
        }),
      }),
      fetchProgramAccounts: async () => "refused",
    };
    this.feed = {
      listen: (listener) => {
        this.#listener = listener;
      },
      // From the slot before: a read of this one is later than the beginning of the stream.
      follow: (addresses) => this.#listener?.onCovered(addresses, this.#slot - 1n),
      unfollow: () => {},
      liveAtMs: () => this.#liveAtMs,
      reportsEveryChange: false,
      liveTimes: () => () => this.#liveAtMs,
      leastLiveAtMs: () => this.#liveAtMs,
      readStamp: () => ({ epoch: -1, order: 0 }),
      doubt: () => true,
      close: () => {},
    };
  }

  get slot(): bigint {
    return this.#slot;
  }

  slotAgeMs(): number {
    return Date.now() - this.#liveAtMs;
  }

  put(account: Omit<Account, "slot" | "executable">): void {
    this.#places.set(account.address, { account: { ...account, executable: false, slot: this.#slot } });
  }

  /** @throws Error if there is no such account */
  placeOf(address: Address): AccountPlace {
    const place = this.#places.get(address);
    if (place === undefined) throw new Error(`there is no account ${address}`);
    return place;
  }

  /** Changes an account and reports it, as a stream does: another lamport, and bytes of its own. */
  touch(place: AccountPlace): void {
    const { address, owner, lamports, data, executable } = place.account;
    // Field by field, as what reads a stream makes them: a copy of the other takes three times as long.
    const account: Account = {
      address,
      owner,
      lamports: lamports + 1n,
      data: data.slice(),
      executable,
      slot: this.#slot,
    };
    place.account = account;
    this.#order += 1;
    this.#listener!.onAccount({ address, account, slot: this.#slot, epoch: 1, order: this.#order });
  }

  /** Begins slots until `close`. */
  start(): void {
    this.beginSlot();
    this.#slots = setInterval(() => this.beginSlot(), SLOT_MS);
  }

  beginSlot(): void {
    this.#slot += 1n;
    this.#liveAtMs = Date.now();
    this.#listener?.onSlot(this.#slot, this.#slot - 1n);
    this.#listener?.onRoot(this.#slot - 32n);
  }

  close(): void {
    clearInterval(this.#slots);
  }
}
