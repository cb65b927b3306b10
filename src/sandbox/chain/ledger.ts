import bs58 from "bs58";
import type { Address } from "../../primitives/address.ts";
import type { Account } from "../../solana/account.ts";
import type { WireTransaction } from "../transaction/wire-transaction.ts";
import type { Execution } from "./bank.ts";

export type Commitment = "processed" | "confirmed" | "finalized";

/** A blockhash is accepted at ages 0 to this, so 151 of them at a time. @see agave MAX_PROCESSING_AGE */
const MAX_BLOCKHASH_AGE = 150;
/** Slots after rooting for which a status is known without a search of history. @see agave MAX_CACHE_ENTRIES */
export const STATUS_CACHE_SLOTS = 300;

/** What a token account held, before or after a transaction. */
export interface TokenBalance {
  readonly accountIndex: number;
  readonly mint: Address;
  readonly owner: Address;
  readonly program: Address;
  /** Base units. */
  readonly amount: bigint;
  readonly decimals: number;
}

/** A transaction that is in a block, whether it succeeded or failed and paid its fee. */
export interface LandedTransaction {
  /** Base58. */
  readonly signature: string;
  readonly slot: number;
  readonly wire: WireTransaction;
  /** All accounts in message order, loaded addresses at the end. */
  readonly accounts: readonly Address[];
  /** Accounts the message may write to. */
  readonly writable: ReadonlySet<Address>;
  readonly loaded: { readonly writable: readonly Address[]; readonly readonly: readonly Address[] };
  readonly execution: Execution;
  readonly feeLamports: bigint;
  readonly unitPriceMicroLamports: bigint;
  readonly preBalances: readonly bigint[];
  readonly postBalances: readonly bigint[];
  readonly preTokenBalances: readonly TokenBalance[];
  readonly postTokenBalances: readonly TokenBalance[];
}

/** A block, and what was executed in it. */
export interface Block {
  readonly slot: number;
  readonly parentSlot: number;
  readonly height: number;
  /** Base58. Not revealed until the block is sealed. */
  readonly blockhash: string;
  readonly previousBlockhash: string;
  /** Seconds since 1970. */
  readonly unixTimestamp: number;
  /** Wall clock when the block was opened: what the pace of slots is measured by. */
  readonly openedAtMs: number;
  readonly transactions: LandedTransaction[];
  /** What each account changed in this block was before it; emptied some time after the block is final. */
  readonly before: Map<Address, Account | null>;
  readonly messageHashes: string[];
}

interface LedgerOptions {
  /** Slots from execution to `confirmed` and to `finalized`. */
  readonly confirmedAfterSlots: number;
  readonly finalizedAfterSlots: number;
  /** Blocks older than this many slots are forgotten. */
  readonly keepSlots: number;
}

/**
 * The chain's memory: blocks and what is in them, which blockhashes are still good, which messages ran, and what is
 * processed, confirmed and finalized. The newest block is open; all others are sealed. It executes nothing.
 */
export class Ledger {
  #options: LedgerOptions;
  readonly #blocks = new Map<number, Block>();
  readonly #transactions = new Map<string, LandedTransaction>();
  readonly #blockhashHeights = new Map<string, number>();
  readonly #messageHashes = new Set<string>();
  #tip: Block;
  /** Neither ever moves back: a block with two thirds of the votes is not dropped. */
  #confirmed: Block;
  #finalized: Block;
  /** Up to this slot, earlier account states are no longer needed. */
  #settledSlot: number;
  /** Blocks whose messages are still held against repetition, oldest first. */
  readonly #guarded: Block[];

  /** Starts with one block, `first`, still open. */
  constructor(options: LedgerOptions, first: Block) {
    this.#options = withinBounds(options);
    this.#tip = first;
    this.#confirmed = first;
    this.#finalized = first;
    this.#settledSlot = first.slot - 1;
    this.#guarded = [first];
    this.#blocks.set(first.slot, first);
  }

  /** The open block. */
  get tip(): Block {
    return this.#tip;
  }

  /** How many slots confirmation and finality take from now on. What has them already keeps them. */
  setDelays(delays: Pick<LedgerOptions, "confirmedAfterSlots" | "finalizedAfterSlots">): void {
    this.#options = withinBounds({ ...this.#options, ...delays });
  }

  /** The newest sealed block: what a node shows as `processed`. The first of all is open. */
  get #frozen(): Block {
    return this.#blocks.get(this.#tip.parentSlot) ?? this.#tip;
  }

  /** The newest block that has reached the commitment. None is the open one. */
  block(commitment: Commitment): Block {
    if (commitment === "processed") return this.#frozen;
    return commitment === "confirmed" ? this.#confirmed : this.#finalized;
  }

  slot(commitment: Commitment): number {
    return this.block(commitment).slot;
  }

  /** Undefined while the block is open: nodes say nothing of it. */
  commitmentOf(slot: number): Commitment | undefined {
    if (slot > this.slot("processed")) return undefined;
    if (slot <= this.slot("finalized")) return "finalized";
    return slot <= this.slot("confirmed") ? "confirmed" : "processed";
  }

  blockAt(slot: number): Block | undefined {
    return this.#blocks.get(slot);
  }

  /** The oldest slot still remembered. */
  get oldestSlot(): number {
    return this.#blocks.keys().next().value!;
  }

  /** Blocks from the newest at the commitment back to the oldest remembered. */
  *backwards(commitment: Commitment): Generator<Block> {
    let block: Block | undefined = this.block(commitment);
    while (block !== undefined) {
      yield block;
      block = block.parentSlot === block.slot ? undefined : this.#blocks.get(block.parentSlot);
    }
  }

  transaction(signature: string): LandedTransaction | undefined {
    return this.#transactions.get(signature);
  }

  /** True when this message has landed and its blockhash could still be good. */
  hasMessage(messageHash: string): boolean {
    return this.#messageHashes.has(messageHash);
  }

  /** Puts a transaction into the open block. */
  add(transaction: LandedTransaction, messageHash: string): void {
    this.#tip.transactions.push(transaction);
    this.#tip.messageHashes.push(messageHash);
    this.#messageHashes.add(messageHash);
    this.#transactions.set(transaction.signature, transaction);
  }

  /** Remembers what an account was before the open block first changed it. */
  keepBefore(address: Address, account: Account | null): void {
    const { before } = this.#tip;
    if (!before.has(address)) before.set(address, account);
  }

  /**
   * The account as it stood at the end of block `slot`, when a later block has changed it since. Undefined: it has not
   * been changed, the bank's present state is the answer.
   */
  accountAtEndOf(slot: number, address: Address): Account | null | undefined {
    for (let later = slot + 1; later <= this.#tip.slot; later++) {
      const before = this.#blocks.get(later)?.before;
      if (before?.has(address)) return before.get(address);
    }
    return undefined;
  }

  /** Every account changed after block `slot`, as it stood at that block's end. */
  changedSince(slot: number): Map<Address, Account | null> {
    const states = new Map<Address, Account | null>();
    for (let later = this.#tip.slot; later > slot; later--) {
      for (const [address, account] of this.#blocks.get(later)?.before ?? []) states.set(address, account);
    }
    return states;
  }

  /** True if a bank at the commitment accepts a message on this blockhash. */
  isBlockhashValid(blockhash: string, commitment: Commitment): boolean {
    return this.#isYoung(blockhash, this.block(commitment).height);
  }

  /** True if the open block accepts a message on this blockhash. It has not registered its own yet. */
  isBlockhashOpen(blockhash: string): boolean {
    return this.#isYoung(blockhash, this.#tip.height - 1);
  }

  #isYoung(blockhash: string, newestHeight: number): boolean {
    const height = this.#blockhashHeights.get(blockhash);
    if (height === undefined) return false;
    const age = newestHeight - height;
    return age >= 0 && age <= MAX_BLOCKHASH_AGE;
  }

  /** The newest blockhash a bank at the commitment knows, and the height up to which that bank takes it to be good. */
  latestBlockhash(commitment: Commitment): { readonly blockhash: string; readonly lastValidBlockHeight: number } {
    const { blockhash, height } = this.block(commitment);
    return { blockhash, lastValidBlockHeight: height + MAX_BLOCKHASH_AGE };
  }

  /** Seals the open block and opens `next` on it. */
  open(next: Block): void {
    const sealed = this.#tip;
    this.#blockhashHeights.set(sealed.blockhash, sealed.height);
    this.#tip = next;
    this.#blocks.set(next.slot, next);
    this.#guarded.push(next);
    // Listeners have received the changes up to the newest final block.
    for (; this.#settledSlot < this.#finalized.slot; this.#settledSlot++) {
      this.#blocks.get(this.#settledSlot + 1)?.before.clear();
    }
    this.#confirmed = this.#newestAged(this.#options.confirmedAfterSlots, this.#confirmed);
    this.#finalized = this.#newestAged(this.#options.finalizedAfterSlots, this.#finalized);
    this.#forget();
  }

  /**
   * Drops the newest blocks, as when the network goes on with another branch; never one that is confirmed. The next to be
   * opened follows on the block that stays.
   *
   * @returns those dropped, newest first
   */
  drop(count: number): readonly Block[] {
    const dropped: Block[] = [];
    while (dropped.length < count && this.#tip.slot > this.#confirmed.slot) {
      const block = this.#tip;
      dropped.push(block);
      this.#blocks.delete(block.slot);
      this.#blockhashHeights.delete(block.blockhash);
      for (const hash of block.messageHashes) this.#messageHashes.delete(hash);
      for (const { signature } of block.transactions) this.#transactions.delete(signature);
      this.#guarded.pop();
      this.#tip = this.#blocks.get(block.parentSlot)!;
    }
    return dropped;
  }

  /** The newest block at least `age` slots below the open one, or `known` if that is newer. */
  #newestAged(age: number, known: Block): Block {
    let block = this.#tip;
    while (block.slot > known.slot && block.slot > this.#tip.slot - age) block = this.#blocks.get(block.parentSlot)!;
    return block.slot > known.slot ? block : known;
  }

  #forget(): void {
    for (const [blockhash, height] of this.#blockhashHeights) {
      if (height >= this.#tip.height - 2 * MAX_BLOCKHASH_AGE) break;
      this.#blockhashHeights.delete(blockhash);
    }
    while (this.#guarded[0]!.height < this.#tip.height - MAX_BLOCKHASH_AGE - 1) {
      for (const hash of this.#guarded.shift()!.messageHashes) this.#messageHashes.delete(hash);
    }
    for (const [slot, block] of this.#blocks) {
      if (slot >= this.#tip.slot - this.#options.keepSlots) break;
      this.#blocks.delete(slot);
      for (const { signature } of block.transactions) this.#transactions.delete(signature);
    }
  }
}

/** Keeps every block that a blockhash or a commitment can still refer to, and the open one below every commitment. */
function withinBounds(options: LedgerOptions): LedgerOptions {
  const confirmedAfterSlots = Math.max(1, options.confirmedAfterSlots);
  const finalizedAfterSlots = Math.max(confirmedAfterSlots, options.finalizedAfterSlots);
  const keepSlots = Math.max(options.keepSlots, finalizedAfterSlots + MAX_BLOCKHASH_AGE + 2);
  return { ...options, confirmedAfterSlots, finalizedAfterSlots, keepSlots };
}

/** A blockhash as text. */
export function encodeBlockhash(hash: Uint8Array): string {
  return bs58.encode(hash);
}
