import type { LandingEvent, LandingOrder, LandingOutcome } from "../port.ts";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import type { SignatureStatus } from "../rpc/signature-status.ts";
import type { LastAnswer } from "../rpc/transaction-reader.ts";
import type { Witnesses } from "../rpc/witnesses.ts";
import { isCredible, type LandingHead } from "./landing-head.ts";
import { RecordVotes } from "./outcome/record-votes.ts";
import { recentBlockhash } from "./recent-blockhash.ts";
import type { Sender } from "./sender.ts";
import { Sighting } from "./sighting.ts";

/** A caller that waits for the outcome. */
export interface Waiter {
  readonly onEvent: ((event: LandingEvent) => void) | undefined;
  /** Receives why the nodes cannot agree on the outcome. */
  readonly onDispute: ((reason: string) => void) | undefined;
  resolve(outcome: LandingOutcome): void;
}

/**
 * Upper bound of the slots reported: nodes on different branches, or one that lies, may name others in turn for as long as it is
 * pending.
 */
const MAX_PROCESSED = 32;

/** How a pending transaction is sent and judged. */
interface TransactionPorts {
  readonly senders: readonly Sender[];
  readonly witnesses: Witnesses;
  readonly head: LandingHead;
}

/** A broadcast transaction without an outcome yet, awaited by one caller or several. */
export class PendingTransaction {
  readonly #head: LandingHead;
  readonly signature: string;
  readonly signed: Uint8Array;
  /** The signed bytes in base64. */
  readonly encoded: string;
  readonly lastValidBlockHeight: bigint;
  /** None while it is only looked for. */
  senders: readonly Sender[];
  /** Senders that have not answered the previous broadcast yet; they get no second one. */
  readonly unanswered = new Set<Sender>();
  readonly accepted = new Set<Sender>();
  readonly refused = new Set<Sender>();
  readonly waiters = new Set<Waiter>();
  /** Broadcasts after the first, and when the next is due (monotonic milliseconds). */
  retries = 0;
  retryAtMs = 0;
  /** While it lasts, no broadcast is repeated. */
  readonly sighting = new Sighting();
  cancelSubscription: () => void = () => {};
  /** The nodes' records and statuses of it. */
  readonly votes: RecordVotes;
  /** Rounds of reading its record, when each node was asked last (running milliseconds), and those yet to answer. */
  recordRounds = 0;
  readonly recordAskedAtMs = new Map<RpcEndpoint, number>();
  readonly unansweredReads = new Set<RpcEndpoint>();
  /** Attempts to prove its expiry that ended in doubt. */
  doubtfulChecks = 0;
  /** A node's last answer when asked for the record. */
  readonly lastAnswer: LastAnswer = { result: undefined, record: null };
  /** Replayed to a waiter that joins later. */
  readonly #events: LandingEvent[] = [];
  /** The slot it was last seen in, which may still be dropped. */
  #processedSlot: bigint | undefined;
  #processed = 0;
  #dispute: string | undefined;
  #isSettled = false;

  constructor(order: LandingOrder, { senders, witnesses, head }: TransactionPorts) {
    this.signature = order.signature;
    this.signed = order.transaction;
    this.encoded = Buffer.from(order.transaction).toString("base64");
    this.lastValidBlockHeight = order.lastValidBlockHeight;
    this.senders = senders;
    this.#head = head;
    this.votes = new RecordVotes(witnesses, (record) => this.isCredible(record));
  }

  /** Base58; undefined if the bytes are too short to hold one. Computed on demand: only transactions that may have expired need it. */
  get blockhash(): string | undefined {
    return recentBlockhash(this.signed);
  }

  /** True once every wait has ended. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Why the nodes cannot agree on the outcome; undefined if they do not disagree. */
  get dispute(): string | undefined {
    return this.#dispute;
  }

  /** Adds a waiter and replays the events so far to it. */
  join(waiter: Waiter): void {
    this.waiters.add(waiter);
    for (const event of this.#events) waiter.onEvent?.(event);
    if (this.#dispute !== undefined) waiter.onDispute?.(this.#dispute);
  }

  /** Reports to every waiter, and later to those that join, why the nodes cannot agree. */
  reportDispute(reason: string): void {
    this.#dispute = reason;
    for (const waiter of this.waiters) waiter.onDispute?.(reason);
  }

  /** Reports an event to every waiter, and later to those that join. */
  report(event: LandingEvent): void {
    this.#events.push(event);
    for (const waiter of this.waiters) waiter.onEvent?.(event);
  }

  /** Ends every wait with the outcome. */
  settle(outcome: LandingOutcome): void {
    this.#isSettled = true;
    this.cancelSubscription();
    for (const waiter of this.waiters) waiter.resolve(outcome);
  }

  /** False for a slot that the message cannot be in, by the known heights. */
  isCredible(seen: { readonly slot: bigint }): boolean {
    return isCredible(seen, this.lastValidBlockHeight, this.#head);
  }

  /** Notes a node's status. One status alone decides nothing; a slot that is not credible is not reported. */
  receiveStatus(endpoint: RpcEndpoint, status: SignatureStatus): void {
    this.votes.receiveStatus(endpoint, status);
    const { slot } = status;
    if (!this.isCredible(status) || slot === this.#processedSlot || this.#processed === MAX_PROCESSED) return;
    this.#processedSlot = slot;
    this.#processed += 1;
    this.report({ kind: "processed", slot });
  }
}
