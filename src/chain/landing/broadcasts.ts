import type { Now } from "../../primitives/clock.ts";
import { NodeError } from "../rpc/node-error.ts";
import type { LandingHead } from "./landing-head.ts";
import type { PendingTransaction } from "./pending-transaction.ts";
import type { Sender } from "./sender.ts";

interface BroadcastsOptions {
  /** By signature; the owner adds and removes them. */
  readonly pending: ReadonlyMap<string, PendingTransaction>;
  readonly head: LandingHead;
  readonly monotonicMs: Now;
  /** Spreads re-broadcasts; 0 ≤ value < 1. */
  readonly random: () => number;
  readonly warn: (message: string) => void;
  /** The round of status reads that is pending, if any: its answer may make a repetition needless. */
  readonly pendingRound: () => number | undefined;
}

/** How often due transactions are looked for. Milliseconds. */
const RETRY_TICK_MS = 25;
/** Slots between broadcasts of the same transaction, and the shortest time in milliseconds. */
const REBROADCAST_SLOTS = 2;
const MIN_PERIOD_MS = 100;
/** Blocks past a message's last one for which it is still sent while one of two nodes has not reached that block. */
const MOST_DISPUTED_BLOCKS = 600n;

/**
 * Sends pending transactions to all their senders in parallel, and again on a schedule of its own. Sending identical bytes twice is safe:
 * the chain executes a message at most once. A transaction that is in a block is not repeated for a while. If more is due than the senders'
 * rate limits allow, the transactions repeated most often wait.
 */
export class Broadcasts {
  readonly #options: BroadcastsOptions;
  #timer: NodeJS.Timeout | undefined;
  /** The round of status reads that was pending last, and since when (monotonic milliseconds). */
  #round: number | undefined;
  #roundSinceMs = 0;
  #isShedding = false;
  #repeated = 0;
  #shed = 0;

  constructor(options: BroadcastsOptions) {
    this.#options = options;
  }

  /** Broadcasts after the first to each sender, and those skipped for a sender's rate limit. */
  counts(): { readonly repeated: number; readonly shed: number } {
    return { repeated: this.#repeated, shed: this.#shed };
  }

  /** Sends the transaction to each of its senders, if it can still land, and schedules repetitions. */
  start(transaction: PendingTransaction): void {
    if (this.#canLand(transaction)) {
      for (const sender of transaction.senders) {
        // The first broadcast counts against the limit and is sent even if the limit is exhausted.
        sender.takeTurn();
        void this.#send(transaction, sender);
      }
    }
    this.#scheduleRetry(transaction);
    this.#timer ??= setInterval(() => this.#retryDue(), RETRY_TICK_MS);
  }

  /** Stops the schedule until the next `start`. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** If only one of two nodes says that the last block has passed, the message may still land; but no node lags or lies for ever. */
  #canLand({ lastValidBlockHeight }: PendingTransaction): boolean {
    const { head } = this.#options;
    const height = head.blockHeight();
    if (height <= lastValidBlockHeight) return true;
    const least = head.leastBlockHeight?.() ?? height;
    return least <= lastValidBlockHeight && height <= lastValidBlockHeight + MOST_DISPUTED_BLOCKS;
  }

  #scheduleRetry(transaction: PendingTransaction): void {
    const { monotonicMs, random } = this.#options;
    transaction.retryAtMs = monotonicMs() + this.#periodMs() * (0.75 + random() / 2);
  }

  #periodMs(): number {
    return Math.max(MIN_PERIOD_MS, REBROADCAST_SLOTS * this.#options.head.slotMs());
  }

  #retryDue(): void {
    const { pending, head, monotonicMs, warn } = this.#options;
    const atMs = monotonicMs();
    // Rounds may follow one another without a pause: each delays the schedule by at most one period.
    const latestMs = this.#awaitsRound(atMs) ? atMs - this.#periodMs() : atMs;
    const due: PendingTransaction[] = [];
    // Usually none is due: do not build a list of all that are pending.
    for (const one of pending.values())
      if (one.retryAtMs <= latestMs && !one.sighting.stands(atMs, head.slotMs()) && this.#canLand(one)) due.push(one);
    if (due.length === 0) return;
    let shed = 0;
    for (const transaction of due.sort((a, b) => a.retries - b.retries)) {
      transaction.retries += 1;
      this.#scheduleRetry(transaction);
      shed += this.#repeat(transaction);
    }
    if (shed > 0 && !this.#isShedding)
      warn("More rebroadcasts are due than the senders' rate limits allow: the most repeated transactions wait.");
    this.#isShedding = shed > 0;
    this.#shed += shed;
  }

  /** True while statuses are being read, for at most one period per round. */
  #awaitsRound(atMs: number): boolean {
    const round = this.#options.pendingRound();
    if (round !== this.#round) {
      this.#round = round;
      this.#roundSinceMs = atMs;
    }
    return round !== undefined && atMs - this.#roundSinceMs < this.#periodMs();
  }

  /** @returns how many senders had reached their rate limit */
  #repeat(transaction: PendingTransaction): number {
    const ready = transaction.senders.filter((sender) => !sender.isCooling());
    let shed = 0;
    for (const sender of ready.length === 0 ? transaction.senders : ready) {
      if (transaction.unanswered.has(sender) || (sender.repeats && transaction.accepted.has(sender))) continue;
      if (sender.takeTurn()) {
        this.#repeated += 1;
        void this.#send(transaction, sender);
      } else shed += 1;
    }
    return shed;
  }

  async #send(transaction: PendingTransaction, sender: Sender): Promise<void> {
    transaction.unanswered.add(sender);
    try {
      await sender.send(transaction.encoded);
      if (transaction.accepted.has(sender)) return;
      transaction.accepted.add(sender);
      transaction.report({ kind: "sent", sender: sender.name });
    } catch (error) {
      // Never final: the same bytes may land through another sender, or have landed already.
      if (transaction.refused.has(sender)) return;
      transaction.refused.add(sender);
      const reason = error instanceof NodeError ? error.kind : "failed";
      transaction.report({ kind: "refused", sender: sender.name, reason });
    } finally {
      transaction.unanswered.delete(sender);
    }
  }
}
