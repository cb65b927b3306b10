import { nextTick } from "node:process";
import type { Now } from "../../primitives/clock.ts";
import type {
  Landing,
  LandingOrder,
  LandingOutcome,
  MessageFinding,
  MessageQuery,
  TransactionProgress,
} from "../port.ts";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { asContext, asRecord, asTransactionError } from "../rpc/rpc-values.ts";
import type { SignatureStatus } from "../rpc/signature-status.ts";
import type { Subscriptions } from "../rpc/subscriptions/subscriptions.ts";
import type { Witnesses } from "../rpc/witnesses.ts";
import { Broadcasts } from "./broadcasts.ts";
import { isCredible, type LandingHead } from "./landing-head.ts";
import { ExpiryChecks } from "./outcome/expiry-checks.ts";
import { HistoryMessages } from "./outcome/history-messages.ts";
import { searchMessage } from "./outcome/message-search.ts";
import { fetchProgress } from "./outcome/progress-votes.ts";
import { RecordReads } from "./outcome/record-reads.ts";
import { StatusLooks } from "./outcome/status-looks.ts";
import { PendingTransaction, type Waiter } from "./pending-transaction.ts";
import type { Sender } from "./sender.ts";
import { StatusPolling } from "./status-polling.ts";

/** Landing until closed, with its counts. */
export interface LiveLanding extends Landing {
  /** For metrics: pending transactions; broadcasts after the first to each sender; broadcasts skipped for a rate limit. */
  counts(): { readonly pending: number; readonly repeated: number; readonly shed: number };
  /** Ends all waits; undecided transactions are reported as pending. */
  close(): void;
}

interface LandingOptions {
  readonly pool: RpcPool;
  readonly witnesses: Witnesses;
  readonly senders: readonly Sender[];
  readonly subscriptions: Subscriptions;
  readonly head: LandingHead;
  /** The clock of `LandingOrder.deadlineMs`. */
  readonly now: Now;
  readonly monotonicMs: Now;
  /** Time in which this process could receive answers; absent: `monotonicMs`. The silence of nodes is measured by it. */
  readonly runningMs?: Now;
  /** Spreads re-broadcasts; 0 ≤ value < 1. */
  readonly random: () => number;
  readonly warn: (message: string) => void;
  /** Receives each transaction that has landed, and its slot; absent: nobody asks. */
  readonly onLanded?: (transaction: Uint8Array, slot: bigint) => void;
}

/** Time without a slot notice after which the last one no longer counts. Milliseconds. */
const SILENT_MS = 1_000;

/**
 * Broadcasts transactions and finds out how they end. A notice or a status, whichever is first, says where to look; the
 * transaction's record decides, and with several nodes two of them must agree on it. No sender's refusal decides anything.
 */
export function createLanding(options: LandingOptions): LiveLanding {
  return new BroadcastLanding(options);
}

class BroadcastLanding implements LiveLanding {
  readonly #witnesses: Witnesses;
  readonly #senders: readonly Sender[];
  readonly #subscriptions: Subscriptions;
  readonly #head: LandingHead;
  readonly #now: Now;
  readonly #monotonicMs: Now;
  /** By signature. */
  readonly #pending = new Map<string, PendingTransaction>();
  readonly #broadcasts: Broadcasts;
  readonly #polling: StatusPolling;
  readonly #records: RecordReads;
  readonly #looks: StatusLooks;
  readonly #messages: HistoryMessages;
  readonly #stopRoots: () => void;
  readonly #onLanded: LandingOptions["onLanded"];
  /** The newest final slot by slot notices, and when the last notice came (monotonic milliseconds). */
  #root = 0n;
  #rootAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: LandingOptions) {
    const { pool, witnesses, senders, subscriptions, head, now, monotonicMs, random, warn } = options;
    const { runningMs = monotonicMs } = options;
    this.#witnesses = witnesses;
    this.#looks = new StatusLooks(pool);
    this.#messages = new HistoryMessages(pool);
    this.#senders = senders;
    this.#subscriptions = subscriptions;
    this.#stopRoots = subscriptions.onSlot((_slot, { root }) => {
      if (root > this.#root) this.#root = root;
      this.#rootAtMs = monotonicMs();
    });
    this.#head = head;
    this.#now = now;
    this.#monotonicMs = monotonicMs;
    this.#onLanded = options.onLanded;
    const pending = this.#pending;
    const pendingRound = () => this.#polling.pendingRound;
    this.#broadcasts = new Broadcasts({ pending, head, monotonicMs, random, warn, pendingRound });
    this.#records = new RecordReads({
      witnesses,
      head,
      runningMs,
      warn,
      onProven: (transaction, proven) => this.#settle(transaction, { kind: "landed", ...proven }),
    });
    const onStatus = (transaction: PendingTransaction, endpoint: RpcEndpoint, status: SignatureStatus) =>
      this.#receiveStatus(transaction, endpoint, status);
    const expiryChecks = new ExpiryChecks({
      witnesses,
      pending,
      head,
      monotonicMs,
      warn,
      onExpired: (transaction) => this.#settle(transaction, { kind: "expired" }),
      onSeen: onStatus,
      onRecorded: (transaction) => this.#records.read(transaction),
    });
    this.#polling = new StatusPolling({
      pool,
      witnesses,
      pending,
      head,
      warn,
      onStatus,
      onRound: () => {
        this.#readSeen();
        void expiryChecks.checkIfDue();
      },
    });
  }

  land(order: LandingOrder): Promise<LandingOutcome> {
    return new Promise((resolve) => {
      const transaction = this.#join(order) ?? this.#start(order);
      const waiter: Waiter = {
        onEvent: order.onEvent,
        onDispute: order.onDispute,
        resolve(outcome) {
          clearTimeout(deadline);
          resolve(outcome);
        },
      };
      const giveUp = () => {
        transaction.waiters.delete(waiter);
        if (transaction.waiters.size === 0) this.#settle(transaction, { kind: "pending" });
        resolve({ kind: "pending" });
      };
      const deadline = setTimeout(giveUp, Math.max(0, order.deadlineMs - this.#now()));
      transaction.join(waiter);
    });
  }

  drop(signature: string): void {
    const transaction = this.#pending.get(signature);
    if (transaction !== undefined) this.#settle(transaction, { kind: "pending" });
  }

  fetchProgress(signature: string, lastValidBlockHeight?: bigint): Promise<TransactionProgress | undefined> {
    // Nodes remember the last few hundred slots.
    const mayBeOld = lastValidBlockHeight === undefined || this.#head.blockHeight() > lastValidBlockHeight;
    return fetchProgress(
      this.#witnesses,
      (endpoint) => this.#looks.look(endpoint, signature, mayBeOld),
      (status) => lastValidBlockHeight === undefined || isCredible(status, lastValidBlockHeight, this.#head),
    );
  }

  mayBeFinal(slot: bigint): boolean {
    return slot <= this.#root || this.#monotonicMs() - this.#rootAtMs > SILENT_MS;
  }

  searchMessage(query: MessageQuery): Promise<MessageFinding> {
    return searchMessage({ witnesses: this.#witnesses, head: this.#head, messages: this.#messages }, query);
  }

  counts(): { readonly pending: number; readonly repeated: number; readonly shed: number } {
    return { pending: this.#pending.size, ...this.#broadcasts.counts() };
  }

  close(): void {
    this.#stopRoots();
    for (const transaction of [...this.#pending.values()]) this.#settle(transaction, { kind: "pending" });
    this.#polling.stop();
    this.#broadcasts.stop();
  }

  /** The transaction, if it is pending already. One that was only looked for so far is sent once an order names senders. */
  #join(order: LandingOrder): PendingTransaction | undefined {
    const transaction = this.#pending.get(order.signature);
    if (transaction?.senders.length !== 0 || order.senders.length === 0) return transaction;
    transaction.senders = this.#sendersOf(order);
    this.#broadcasts.start(transaction);
    return transaction;
  }

  #sendersOf(order: LandingOrder): readonly Sender[] {
    return this.#senders.filter(({ allowedAs }) => order.senders.includes(allowedAs));
  }

  #start(order: LandingOrder): PendingTransaction {
    const senders = this.#sendersOf(order);
    const transaction = new PendingTransaction(order, { senders, witnesses: this.#witnesses, head: this.#head });
    this.#pending.set(order.signature, transaction);
    this.#broadcasts.start(transaction);
    // Runs after the requests that the broadcast makes in this turn: those are written in the next tick.
    nextTick(() => this.#follow(transaction));
    return transaction;
  }

  /** Finds the outcome of a transaction that is being sent. */
  #follow(transaction: PendingTransaction): void {
    if (transaction.isSettled) return;
    const { signature, lastValidBlockHeight } = transaction;
    transaction.cancelSubscription = this.#subscriptions.subscribe({
      kind: "signature",
      params: [signature, { commitment: "confirmed" }],
      onNotice: (result) => {
        const { value } = asContext(result, "a signature notice");
        if (value === "receivedSignature") return;
        transaction.votes.receiveNotice(
          asTransactionError(asRecord(value, "a signature notice").err, "a signature notice"),
        );
        this.#records.read(transaction);
        // One node of several decides by a record and a status that agree; a single configured node by a record and a notice.
        if (this.#witnesses.endpoints.length > 1 && this.#witnesses.quorum() === 1) void this.#polling.poll();
      },
    });
    // A transaction that can no longer be sent may have landed already.
    if (this.#head.blockHeight() > lastValidBlockHeight) void this.#polling.poll();
    else this.#polling.begin();
  }

  #receiveStatus(transaction: PendingTransaction, endpoint: RpcEndpoint, status: SignatureStatus): void {
    if (transaction.isCredible(status)) transaction.sighting.see(status.slot, this.#monotonicMs());
    transaction.receiveStatus(endpoint, status);
    if (transaction.votes.isSeen) this.#records.read(transaction);
  }

  /** Keeps reading the records of transactions that a node has reported as confirmed. */
  #readSeen(): void {
    for (const transaction of [...this.#pending.values()])
      if (transaction.votes.isSeen) this.#records.read(transaction);
  }

  #settle(transaction: PendingTransaction, outcome: LandingOutcome): void {
    if (this.#pending.get(transaction.signature) !== transaction) return;
    this.#pending.delete(transaction.signature);
    transaction.settle(outcome);
    if (outcome.kind === "landed") this.#onLanded?.(transaction.signed, outcome.record.slot);
    if (this.#pending.size > 0) return;
    this.#polling.stop();
    this.#broadcasts.stop();
  }
}
