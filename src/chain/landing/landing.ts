import type { Now } from "../../primitives/clock.ts";
import type { Landing, LandingOrder, LandingOutcome, TransactionProgress } from "../port.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { asContext, asList, asRecord } from "../rpc/rpc-values.ts";
import { decodeStatus, type SignatureStatus } from "../rpc/signature-status.ts";
import type { Subscriptions } from "../rpc/subscriptions.ts";
import { Broadcasts } from "./broadcasts.ts";
import { ExpiryChecks } from "./expiry-checks.ts";
import { isCredible, type LandingHead } from "./landing-head.ts";
import { PendingTransaction, type Waiter } from "./pending-transaction.ts";
import type { Sender } from "./sender.ts";
import { StatusPolling } from "./status-polling.ts";

export interface LiveLanding extends Landing {
  /** For metrics: pending transactions; broadcasts after the first to each sender; broadcasts skipped for a rate limit. */
  counts(): { readonly pending: number; readonly repeated: number; readonly shed: number };
  /** Ends all waits; undecided transactions are reported as pending. */
  close(): void;
}

interface LandingOptions {
  readonly pool: RpcPool;
  readonly senders: readonly Sender[];
  readonly subscriptions: Subscriptions;
  readonly head: LandingHead;
  readonly now: Now;
  readonly monotonicMs: Now;
  /** Spreads re-broadcasts; 0 ≤ value < 1. */
  readonly random: () => number;
  readonly warn: (message: string) => void;
  /** Slots between broadcasts of the same transaction. */
  readonly rebroadcastSlots?: number;
}

const DEFAULT_REBROADCAST_SLOTS = 2;

/**
 * Broadcasts transactions and finds out how they end, by subscription and by polling, whichever is first. No sender's refusal
 * decides anything; only blocks do.
 */
export function createLanding(options: LandingOptions): LiveLanding {
  return new BroadcastLanding(options);
}

class BroadcastLanding implements LiveLanding {
  readonly #pool: RpcPool;
  readonly #senders: readonly Sender[];
  readonly #subscriptions: Subscriptions;
  readonly #head: LandingHead;
  readonly #now: Now;
  /** By signature. */
  readonly #pending = new Map<string, PendingTransaction>();
  readonly #broadcasts: Broadcasts;
  readonly #polling: StatusPolling;

  constructor(options: LandingOptions) {
    const { pool, senders, subscriptions, head, now, monotonicMs, random, warn } = options;
    this.#pool = pool;
    this.#senders = senders;
    this.#subscriptions = subscriptions;
    this.#head = head;
    this.#now = now;
    const pending = this.#pending;
    const rebroadcastSlots = options.rebroadcastSlots ?? DEFAULT_REBROADCAST_SLOTS;
    this.#broadcasts = new Broadcasts({ pending, head, monotonicMs, random, warn, rebroadcastSlots });
    const expiryChecks = new ExpiryChecks({
      endpoints: pool.endpoints,
      pending,
      head,
      now,
      warn,
      onExpired: (transaction) => this.#settle(transaction, { kind: "expired" }),
      onSeen: (transaction, status) => this.#receiveStatus(transaction, status),
    });
    this.#polling = new StatusPolling({
      pool,
      pending,
      head,
      warn,
      onStatus: (transaction, status) => this.#receiveStatus(transaction, status),
      onRound: () => void expiryChecks.checkIfDue(),
    });
  }

  land(order: LandingOrder): Promise<LandingOutcome> {
    return new Promise((resolve) => {
      const transaction = this.#pending.get(order.signature) ?? this.#start(order);
      const waiter: Waiter = {
        onEvent: order.onEvent,
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

  async fetchProgress(signature: string, lastValidBlockHeight?: bigint): Promise<TransactionProgress | undefined> {
    const progressIn = (answer: unknown): SignatureStatus | undefined => {
      const status = firstStatus(answer);
      if (status === null) return undefined;
      const isAccepted = lastValidBlockHeight === undefined || isCredible(status, lastValidBlockHeight, this.#head);
      return isAccepted ? status : undefined;
    };
    const result = await this.#pool.read("getSignatureStatuses", [[signature], { searchTransactionHistory: true }], {
      isLacking: (answer) => progressIn(answer) === undefined,
    });
    return progressIn(result);
  }

  counts(): { readonly pending: number; readonly repeated: number; readonly shed: number } {
    return { pending: this.#pending.size, ...this.#broadcasts.counts() };
  }

  close(): void {
    for (const transaction of [...this.#pending.values()]) this.#settle(transaction, { kind: "pending" });
    this.#polling.stop();
    this.#broadcasts.stop();
  }

  #start(order: LandingOrder): PendingTransaction {
    const senders = this.#senders.filter(({ allowedAs }) => order.senders.includes(allowedAs));
    const transaction = new PendingTransaction(order, senders);
    this.#pending.set(order.signature, transaction);
    this.#broadcasts.start(transaction);
    transaction.cancelSubscription = this.#subscriptions.subscribe({
      kind: "signature",
      params: [order.signature, { commitment: "confirmed" }],
      onNotice: (result) => {
        const { slot, value } = asContext(result, "a signature notice");
        if (value === "receivedSignature") return;
        // The notice's slot may be later than the transaction's; the status read has the right one.
        transaction.receiveNotice({ slot, error: asRecord(value, "a signature notice").err ?? null });
        void this.#polling.poll();
      },
    });
    void this.#polling.poll();
    return transaction;
  }

  #receiveStatus(transaction: PendingTransaction, status: SignatureStatus | null): void {
    const isAccepted = status !== null && isCredible(status, transaction.lastValidBlockHeight, this.#head);
    const outcome = transaction.receiveStatus(isAccepted ? status : null);
    if (outcome !== undefined) this.#settle(transaction, outcome);
  }

  #settle(transaction: PendingTransaction, outcome: LandingOutcome): void {
    if (this.#pending.get(transaction.signature) !== transaction) return;
    this.#pending.delete(transaction.signature);
    transaction.settle(outcome);
    if (this.#pending.size > 0) return;
    this.#polling.stop();
    this.#broadcasts.stop();
  }
}

function firstStatus(result: unknown): SignatureStatus | null {
  return decodeStatus(asList(asContext(result, "signature statuses").value, "signature statuses")[0]);
}
