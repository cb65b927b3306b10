import { TradewireError } from "../errors/tradewire-error.ts";
import type { Address } from "../primitives/address.ts";
import type { Account, ChainClock } from "../solana/account.ts";

/** A batch of accounts read at one slot, in the order asked; null if there is none. */
export interface AccountsAtSlot {
  readonly slot: bigint;
  readonly accounts: readonly (Account | null)[];
  /** Index of the node that answered; undefined if several did, or if it is unknown. */
  readonly node?: number | undefined;
}

/** A search of a program's accounts: those that match every condition. */
export interface ProgramFilter {
  readonly program: Address;
  readonly dataSize?: number;
  readonly memcmp: readonly { readonly offset: number; readonly bytes: Uint8Array }[];
  /** True: an answer that is too large is not read in parts, but reported as "oversized". */
  readonly atOnce?: boolean;
}

/** True if a read failed because its answer was too large: fewer accounts, or all but one, can still be read. */
export function isOversized(error: unknown): boolean {
  return error instanceof TradewireError && "kind" in error && error.kind === "oversized";
}

/** True if this is one node's word while another has not answered: do not rely on it for long. */
export function isUncertain(error: unknown): boolean {
  return error instanceof TradewireError && "isUncertain" in error && error.isUncertain === true;
}

/** Reads of account state across the network. */
export interface AccountReader {
  /**
   * Any number of accounts; split into calls of at most 100. The slot is the oldest of those calls. With `minContextSlot`, a node that has
   * not reached that slot refuses instead of answering with older state. With `mayWait`, the read waits some milliseconds for another one
   * to share its call.
   * @throws TradewireError UPSTREAM_ERROR, which `isOversized` tells apart if the accounts are too large together
   */
  fetchAccounts(addresses: readonly Address[], minContextSlot?: bigint, mayWait?: boolean): Promise<AccountsAtSlot>;
  /** Accounts of a program by filter, or "refused" if no node serves such a search. @throws TradewireError UPSTREAM_ERROR */
  fetchProgramAccounts(filter: ProgramFilter): Promise<readonly Account[] | "refused" | "oversized">;
}

/** The build of a program that the chain runs. */
export interface DeployedProgram {
  readonly id: Address;
  /** False: its code can never be replaced. */
  readonly isUpgradeable: boolean;
  /** The account that holds its code: an account of its own if the program is upgradeable. */
  readonly codeAddress: Address;
  /** Slot of the deployment; 0 if it can never be replaced. */
  readonly slot: bigint;
}

/** An account as read at a slot. `readAtMs` is when the read was sent (epoch milliseconds). */
export interface KnownAccount {
  readonly account: Account | null;
  readonly slot: bigint;
  readonly readAtMs: number;
}

/** A followed account, for as long as it is followed. */
export interface FollowedRecord {
  readonly address: Address;
  /** The follower's own data, so that a change costs no look-up. */
  kept: unknown;
  /**
   * Set by the follower: true for an account that is not expected to end, such as a part of a market. It ends only if most nodes say
   * so, which takes a moment. Others, such as a wallet's, end as soon as one source says so: trades close them every day.
   */
  isLasting: boolean;
}

/**
 * Follows changes of accounts. Over any transport, the last delivered state of an account is the newest known on the chain: an
 * older state never follows a newer one, unless the newer one's slot is no longer part of the chain.
 */
export interface StateSource {
  /**
   * Sets the listener for the first state of followed accounts and for each change. Undefined: the known state was in a slot
   * that is no longer part of the chain, and the account is unknown until read again. Set once, before anything is followed.
   * The record is that of `recordOf`, if there are any.
   */
  onAccount(
    listener: (address: Address, account: Account | null | undefined, slot: bigint, record?: FollowedRecord) => void,
  ): void;
  /**
   * Follows accounts until `unfollow`. Resolves once the first state of each is delivered; `known` accounts are not read for
   * it. Rejects if that read fails, and keeps trying as long as the account is followed.
   * @throws TradewireError UPSTREAM_ERROR
   */
  follow(addresses: readonly Address[], known?: ReadonlyMap<Address, KnownAccount>): Promise<void>;
  unfollow(addresses: readonly Address[]): void;
  /**
   * Marks followed accounts that a trade is about to be built on: for some seconds they are also read now and then, because a
   * stream may silently lose a change.
   */
  use(addresses: Iterable<Address>): void;
  /** Re-reads followed accounts now, and delivers changes. @throws TradewireError UPSTREAM_ERROR */
  refresh(addresses: readonly Address[]): Promise<void>;
  /**
   * Reports that a landed transaction has written these accounts in this slot: for ten seconds an earlier state of those that are followed,
   * or will be, is not current, however young it is.
   */
  noteWritten(addresses: readonly Address[], slot: bigint): void;
  /**
   * Reads those of the followed accounts whose state is from before such a write. Resolves once it no longer is, or after a second; never
   * rejects.
   * @returns undefined if there is none
   */
  catchUp(addresses: readonly Address[]): Promise<void> | undefined;
  /**
   * Up to when the delivered state of a followed account is known to be complete (epoch milliseconds). Never decreases without a setback.
   * @param record of the account, which saves the look-up
   * @param enoughMs late enough for the caller: a later time is not computed
   */
  currentAtMs(address: Address, record?: FollowedRecord, enoughMs?: number): number;
  /** Increases whenever an account's known time may have moved back: its slot was undone, or its stream no longer suffices. */
  readonly setbacks: number;
  /** The record of a followed account; undefined if it is not followed. Absent: there are none. */
  recordOf?(address: Address): FollowedRecord | undefined;
  /** Followed accounts about which the nodes contradict each other now: nothing may be built on them. */
  contested(): ReadonlySet<Address>;
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

/** The head of the chain as known right now. Everything answers from memory; nothing waits. */
export interface ChainHead {
  /** The newest confirmed blockhash. @throws TradewireError STATE_STALE if it is older than the configured age */
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

/** Prices of priority by level. */
export interface PriorityFees {
  /** Micro-lamports per compute unit of a level, for a message that writes to these accounts. From memory. */
  priceMicroLamportsPerCu(level: Priority, writable: readonly Address[]): bigint;
  /** Slots until one in which the level's price is enough, judged by recent ones. At least 1. */
  expectedSlots(level: Priority): number;
}

/** The lowest prices that landed in a slot. Micro-lamports per compute unit. */
export interface LandedPrice {
  readonly slot: bigint;
  /** Among all transactions. */
  readonly chain: bigint;
  /** Among those that wrote to the accounts asked about; never below `chain`. */
  readonly accounts: bigint;
}

/** What landed in recent slots, compared with a transaction's bid. */
export interface LandedPrices {
  /** The transaction's own bid. Micro-lamports per compute unit. */
  readonly bid: bigint;
  /** Number of nodes that list every one of the prices; of several prices for a slot, the lowest is used. */
  readonly nodes: number;
  /** A missing slot was skipped, or nobody paid in it. */
  readonly slots: readonly LandedPrice[];
}

/** Reads what landed, to explain a transaction that did not. */
export interface LandedPriceReader {
  /**
   * Prices of recent slots on the accounts that the transaction writes to, and on `markets`. Undefined if no node lists prices now, or if
   * the budget of such reads is used up. Never throws.
   */
  read(transaction: Uint8Array, markets: readonly Address[]): Promise<LandedPrices | undefined>;
}

/** What a wallet holds. */
export interface WalletBalance {
  /** The highest balance that any of the nodes reports. */
  readonly lamports: bigint;
  /** Nodes that answered. */
  readonly nodes: number;
}

/** Reads what a wallet holds, to explain a transaction that it may not have been able to pay for. */
export interface WalletBalanceReader {
  /** As of a confirmed slot. Undefined if no node answers, or if the budget of such reads is used up. Never throws. */
  read(wallet: Address): Promise<WalletBalance | undefined>;
}

/** How a broadcast transaction ends, as proven by the chain. */
export type LandingOutcome =
  | {
      readonly kind: "landed";
      readonly record: TransactionRecord;
      /** Nodes that agree on the record. 1: it rests on one node's word. */
      readonly witnesses: number;
    }
  /** Proven: finalized height passed the last valid height and the signature is in no block. */
  | { readonly kind: "expired" }
  /** Undecided when the wait ended. */
  | { readonly kind: "pending" };

/** The block a transaction is in, and its commitment: at most "processed" unless the nodes agree. */
export interface TransactionProgress {
  readonly slot: bigint;
  readonly commitment: "processed" | "confirmed" | "finalized";
  readonly error: unknown | null;
}

/** An event in the life of a broadcast transaction. */
export type LandingEvent =
  /** A sender accepted it for the first time. */
  | { readonly kind: "sent"; readonly sender: string }
  /** A sender did not accept it, for the first time. This decides nothing. */
  | { readonly kind: "refused"; readonly sender: string; readonly reason: string }
  /** Seen in a block that may still be dropped; reported again if seen in another. */
  | { readonly kind: "processed"; readonly slot: bigint };

/** A signed transaction to broadcast. */
export interface LandingOrder {
  readonly transaction: Uint8Array;
  /** Base58. */
  readonly signature: string;
  readonly lastValidBlockHeight: bigint;
  readonly deadlineMs: number;
  /** Names of the senders that may send it; those not configured here are ignored. */
  readonly senders: readonly string[];
  readonly onEvent?: (event: LandingEvent) => void;
  /** Receives why the nodes cannot agree on the outcome, once that has lasted for some slots. */
  readonly onDispute?: (reason: string) => void;
}

/** A message to look for in its wallet's history. */
export interface MessageQuery {
  readonly wallet: Address;
  /** SHA-256 of the message. */
  readonly messageHash: Uint8Array;
  readonly lastValidBlockHeight: bigint;
  /** A slot at or before the message was built. */
  readonly buildSlot: bigint;
  /** Signatures of the message that need not be found: base58. */
  readonly known: readonly string[];
}

/** What the wallet's finalized history says about a message that has expired. */
export type MessageFinding = (
  | { readonly kind: "found"; readonly transaction: Uint8Array }
  /** `reachesBack`: as many nodes as must agree show something from before the message was built, or still have all blocks since. */
  | { readonly kind: "absent"; readonly reachesBack: boolean; readonly witnesses: number }
  /** No node serves the history. */
  | { readonly kind: "unserved" }
) & {
  /** Time since the message's last valid block, at the measured pace. Milliseconds. */
  readonly sinceMs: number;
  /**
   * True while every node still has the status of whatever landed in the message's lifetime in memory, for those who know the
   * signature.
   */
  readonly isRemembered: boolean;
};

/** Brings signed transactions onto the chain, and finds out what became of them. */
export interface Landing {
  /**
   * Broadcasts the bytes through every allowed sender, repeatedly, until the outcome is known or `deadlineMs` (epoch) passes;
   * never past the last valid block height. `landed` means at least confirmed, and that the nodes agree on the record.
   */
  land(order: LandingOrder): Promise<LandingOutcome>;
  /** Stops sending and following a transaction: every wait for it ends as pending. */
  drop(signature: string): void;
  /**
   * Asks the nodes once for a transaction's progress, as far as they agree; undefined if it is in no block. Given the last valid block
   * height of its message, a block outside the message's lifetime is not accepted.
   * @throws TradewireError UPSTREAM_ERROR
   */
  fetchProgress(signature: string, lastValidBlockHeight?: bigint): Promise<TransactionProgress | undefined>;
  /** False while slot notices show this slot as not final yet: one node's word, used only to decide when to ask. */
  mayBeFinal(slot: bigint): boolean;
  /**
   * Looks for an expired message, under whatever signature, in its wallet's finalized history.
   * @throws TradewireError UPSTREAM_ERROR if too few nodes answer now
   */
  searchMessage(query: MessageQuery): Promise<MessageFinding>;
}

/** A payment, made by the transaction itself, to the relay or block engine that forwards it to the leader. */
export interface Tip {
  readonly to: Address;
  readonly lamports: bigint;
}

/** The senders a message may use, chosen when it is built because their tips are part of it. */
export interface SenderChoice {
  readonly senders: readonly string[];
  readonly tips: readonly Tip[];
}

/** Chooses by level through whom a transaction is sent, and with what tips. */
export interface SenderPlan {
  /** The senders of a level now. `turn` varies from build to build and rotates through a sender's tip accounts. */
  choose(level: Priority, turn: number): SenderChoice;
}

/** One token balance of a transaction's record. */
export interface TokenBalanceRecord {
  readonly accountIndex: number;
  readonly mint: Address;
  readonly owner: Address | undefined;
  readonly amount: bigint;
}

/** Lamports that a program sent to an account by the system program. */
export interface LamportTransfer {
  readonly to: Address;
  readonly lamports: bigint;
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
  /** What programs sent, in order; undefined if the nodes do not report it, or differ. */
  readonly transfers?: readonly LamportTransfer[] | undefined;
  readonly logs: readonly string[];
  readonly computeUnitsConsumed: bigint | undefined;
}
