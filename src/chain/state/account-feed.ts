import type { Address } from "../../primitives/address.ts";
import type { Account } from "../../solana/account.ts";

/** A change of an account as a feed tells of it. */
interface AccountNotice {
  readonly address: Address;
  /** Null when the account is no more. */
  readonly account: Account | null;
  readonly slot: bigint;
  readonly epoch: number;
  readonly order: number;
}

/** Who hears a feed. */
export interface FeedListener {
  onAccount(notice: AccountNotice): void;
  onSlot(slot: bigint, parent: bigint): void;
  onDead(slot: bigint): void;
  /** Another bank takes the place of the one that was told of for this slot: what came from that one of these accounts is void. */
  onReplaced(slot: bigint, addresses: ReadonlySet<Address>): void;
  onConfirmed(slot: bigint): void;
  onRoot(slot: bigint): void;
  /** From this slot on every change of these accounts is told of. */
  onCovered(addresses: readonly Address[], fromSlot: bigint): void;
  /** Changes of these accounts may have been missed: they are covered no longer. Undefined: of all. */
  onUncovered(addresses: readonly Address[] | undefined): void;
  /** The feed tells of slots from here on without a known connection with those before. */
  onRestart(): void;
}

/** A stream of account changes and slots, over whatever transport. It reads nothing and remembers no state. */
export interface AccountFeed {
  /** Set once, before anything is followed. */
  listen(listener: FeedListener): void;
  follow(addresses: readonly Address[]): void;
  unfollow(addresses: readonly Address[]): void;
  /** When the stream that covers the account last told of a new slot (epoch milliseconds): all before it has arrived too. */
  liveAtMs(address: Address): number;
  /** The same of the stream that has been silent longest. */
  leastLiveAtMs(): number;
  /** Where a read stands among the notices of its slot: to be asked when it is sent. */
  readStamp(): { readonly epoch: number; readonly order: number };
  /** The stream has been found wrong, or to have lost something: where there is another to turn to, that is done. */
  doubt(): void;
  close(): void;
}
