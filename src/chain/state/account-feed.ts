import type { Address } from "../../primitives/address.ts";
import type { Account } from "../../solana/account.ts";

/** A change of an account, as a feed reports it. */
export interface AccountNotice {
  readonly address: Address;
  /** Null if the account is closed. */
  readonly account: Account | null;
  readonly slot: bigint;
  readonly epoch: number;
  readonly order: number;
}

/** Receives what a feed reports. */
export interface FeedListener {
  onAccount(notice: AccountNotice): void;
  onSlot(slot: bigint, parent: bigint): void;
  onDead(slot: bigint): void;
  /** The slot's bank was replaced: discard the updates of these accounts from the previous one. */
  onReplaced(slot: bigint, addresses: ReadonlySet<Address>): void;
  onConfirmed(slot: bigint): void;
  onRoot(slot: bigint): void;
  /** From this slot on, every change of these accounts is reported. */
  onCovered(addresses: readonly Address[], fromSlot: bigint): void;
  /**
   * Changes of these accounts of one stream may have been missed; undefined means all accounts. They are no longer covered, or only from a
   * slot on.
   */
  onUncovered(addresses: readonly Address[] | undefined, fromSlot?: bigint): void;
  /** The slots reported from here on have no known link to those before. */
  onRestart(): void;
}

/** A stream of account changes and slots over any transport. It reads nothing and keeps no state. */
export interface AccountFeed {
  /** True if every change is reported, also those that another one of the same slot follows. */
  readonly reportsEveryChange: boolean;
  /** Set once, before anything is followed. */
  listen(listener: FeedListener): void;
  follow(addresses: readonly Address[]): void;
  unfollow(addresses: readonly Address[]): void;
  /** When the stream that covers the account last reported a new slot (epoch milliseconds): everything before has arrived too. */
  liveAtMs(address: Address): number;
  /** The same for any account, as of now: answers do not change when streams go on. */
  liveTimes(): (address: Address) => number;
  /** The same for the stream that has been silent longest. */
  leastLiveAtMs(): number;
  /** The place of a read among the notices of its slot; to be taken when the read is sent. */
  readStamp(): { readonly epoch: number; readonly order: number };
  /** The stream is wrong or has a gap: switch to another one. @returns false if there is none */
  doubt(): boolean;
  close(): void;
}
