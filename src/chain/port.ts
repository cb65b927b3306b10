import type { Address } from "../primitives/address.ts";
import type { Account, ChainClock } from "../solana/account.ts";

/** A batch of accounts read at one slot: in the order asked, null where there is none. */
export interface AccountsAtSlot {
  readonly slot: bigint;
  readonly accounts: readonly (Account | null)[];
}

export interface ProgramFilter {
  readonly program: Address;
  readonly dataSize?: number;
  readonly memcmp: readonly { readonly offset: number; readonly bytes: Uint8Array }[];
}

/** Reads of account state across the network. */
export interface AccountReader {
  /**
   * Any number of accounts; split into calls of at most 100. The slot is the oldest of those calls.
   * With `minContextSlot`, a node that has not come that far refuses instead of answering with older state.
   * @throws TradewireError UPSTREAM_ERROR
   */
  fetchAccounts(addresses: readonly Address[], minContextSlot?: bigint): Promise<AccountsAtSlot>;
  /** Accounts of a program by filter, or "refused" when the node does not serve such a search. @throws TradewireError UPSTREAM_ERROR */
  fetchProgramAccounts(filter: ProgramFilter): Promise<readonly Account[] | "refused">;
}

/** An account that has been read, at which slot and when (epoch milliseconds at the sending of the read). */
export interface KnownAccount {
  readonly account: Account | null;
  readonly slot: bigint;
  readonly readAtMs: number;
}

/**
 * Where changes of accounts come from. Whatever the transport, what was last delivered of an account is what it is on the
 * chain as far as is known: never an older state after a newer one, unless the newer one's slot is no longer part of the chain.
 */
export interface StateSource {
  /**
   * Who hears the state of followed accounts: at first, and after each change. Undefined: what was known was in a slot that is
   * no longer part of the chain, and nothing is known until the account has been read again. Set once, before anything is
   * followed.
   */
  onAccount(listener: (address: Address, account: Account | null | undefined, slot: bigint) => void): void;
  /**
   * Follows accounts until `unfollow`. Resolves when the first state of each has been delivered; those that are `known` are
   * not read for it. When that read fails it rejects, and goes on trying for as long as the account is followed.
   * @throws TradewireError UPSTREAM_ERROR
   */
  follow(addresses: readonly Address[], known?: ReadonlyMap<Address, KnownAccount>): Promise<void>;
  unfollow(addresses: readonly Address[]): void;
  /**
   * Told which followed accounts a trade is about to be built on: for some seconds they are read now and then beside the
   * stream, which may lose a change without a word.
   */
  use(addresses: Iterable<Address>): void;
  /** Reads followed accounts again now, and delivers what is new. @throws TradewireError UPSTREAM_ERROR */
  refresh(addresses: readonly Address[]): Promise<void>;
  /**
   * The moment (epoch milliseconds) up to which what was delivered of a followed account is known to be complete. Never goes
   * back, unless the account has become unknown, or what told of it proves to have lost a change.
   */
  currentAtMs(address: Address): number;
  close(): void;
}

/** A recent blockhash and how long a message built on it can land. */
export interface Lifetime {
  readonly blockhash: Uint8Array;
  readonly lastValidBlockHeight: bigint;
  /** Slot at which the blockhash was read. */
  readonly slot: bigint;
}

/** The priority levels, cheapest first. Everything that goes through the levels goes through this list. */
export const PRIORITY_LEVELS = ["economy", "fast", "faster", "fastest"] as const;
export type Priority = (typeof PRIORITY_LEVELS)[number];

/** What is known of the chain's head right now. Everything answers from memory; nothing waits. */
export interface ChainHead {
  /** The newest confirmed blockhash. @throws TradewireError STATE_STALE when it is older than the set age */
  lifetime(): Lifetime;
  /** @throws TradewireError STATE_STALE */
  clock(): ChainClock;
  /** Estimated current block height. */
  blockHeight(): bigint;
  /** Measured time of one slot in milliseconds. */
  slotMs(): number;
  /** When the chain reaches a block height, at the measured pace (epoch milliseconds). */
  heightAtMs(height: bigint): number;
  /** Lamports an account of `space` data bytes must hold to exist. */
  rentExemption(space: number): bigint;
  /** Base58 genesis hash: names the network in every submission token. */
  genesisHash(): string;
}

/** Prices of priority. */
export interface PriorityFees {
  /** Micro-lamports per compute unit for a level, for a message that writes to these accounts. From memory. */
  priceMicroLamportsPerCu(level: Priority, writable: readonly Address[]): bigint;
  /** Slots until one comes in which the level's price is enough, as the recent ones went. At least 1. */
  expectedSlots(level: Priority): number;
}

/** The life of one broadcast transaction, as proven by the chain. */
export type LandingOutcome =
  | ({ readonly kind: "landed" } & TransactionProgress)
  /** Proven: finalized height passed the last valid height and the signature is in no block. */
  | { readonly kind: "expired" }
  /** Not decided when the waiting ended. */
  | { readonly kind: "pending" };

/** How far a transaction has got: in which block it is, and how sure that is. */
export interface TransactionProgress {
  readonly slot: bigint;
  readonly commitment: "processed" | "confirmed" | "finalized";
  readonly error: unknown | null;
}

/** Something that happened to a transaction on its way. */
export type LandingEvent =
  /** The sender took it, for the first time. */
  | { readonly kind: "sent"; readonly sender: string }
  /** The sender did not take it, for the first time; that decides nothing. */
  | { readonly kind: "refused"; readonly sender: string; readonly reason: string }
  /** Seen in a block that may still be dropped; told again when it is seen in another. */
  | { readonly kind: "processed"; readonly slot: bigint };

/** A signed transaction on its way. */
export interface LandingOrder {
  readonly transaction: Uint8Array;
  /** Base58. */
  readonly signature: string;
  readonly lastValidBlockHeight: bigint;
  readonly deadlineMs: number;
  /** Names of the senders it may be sent on. One that is not configured here is left out. */
  readonly senders: readonly string[];
  readonly onEvent?: (event: LandingEvent) => void;
}

export interface Landing {
  /**
   * Sends the bytes on every sender allowed, again and again until the fate is known or `deadlineMs` (epoch) has passed; never
   * once the block height has passed the last valid one. A fate of `landed` is at least confirmed.
   */
  land(order: LandingOrder): Promise<LandingOutcome>;
  /**
   * Asks the chain once how far a transaction got; undefined when it is in no block. With the last valid height of a message
   * that may still be on its way, a block outside its life is not believed.
   * @throws TradewireError UPSTREAM_ERROR
   */
  fetchProgress(signature: string, lastValidBlockHeight?: bigint): Promise<TransactionProgress | undefined>;
}

/** Lamports for whoever carries a transaction to the leader, paid by the transaction itself. */
export interface Tip {
  readonly to: Address;
  readonly lamports: bigint;
}

/** The ways a message may be sent, decided when it is built: what they ask for has to be in it. */
export interface SenderChoice {
  readonly senders: readonly string[];
  readonly tips: readonly Tip[];
}

export interface SenderPlan {
  /** The senders of a level now. `turn` varies from build to build: tips go to the accounts of a sender in turn. */
  choose(level: Priority, turn: number): SenderChoice;
}

/** One token balance of a transaction's record. */
export interface TokenBalanceRecord {
  readonly accountIndex: number;
  readonly mint: Address;
  readonly owner: Address | undefined;
  readonly amount: bigint;
}

/** The chain's own record of a landed transaction. */
export interface TransactionRecord {
  readonly slot: bigint;
  readonly error: unknown | null;
  readonly feeLamports: bigint;
  /** All accounts in message order, loaded addresses at the end. */
  readonly accounts: readonly Address[];
  readonly preBalances: readonly bigint[];
  readonly postBalances: readonly bigint[];
  readonly preTokenBalances: readonly TokenBalanceRecord[];
  readonly postTokenBalances: readonly TokenBalanceRecord[];
  readonly logs: readonly string[];
  readonly computeUnitsConsumed: bigint | undefined;
}

export interface TransactionReader {
  /** The record at confirmed commitment, or null when the node does not have it (yet). @throws TradewireError UPSTREAM_ERROR */
  fetchTransaction(signature: string): Promise<TransactionRecord | null>;
}
