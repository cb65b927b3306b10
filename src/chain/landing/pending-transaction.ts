import type { LandingEvent, LandingOrder, LandingOutcome } from "../port.ts";
import type { SignatureStatus } from "../rpc/signature-status.ts";
import { recentBlockhash } from "./recent-blockhash.ts";
import type { Sender } from "./sender.ts";

/** A caller that waits for the outcome. */
export interface Waiter {
  readonly onEvent: ((event: LandingEvent) => void) | undefined;
  resolve(outcome: LandingOutcome): void;
}

/** What a signature subscription reported. */
interface SignatureNotice {
  readonly slot: bigint;
  readonly error: unknown | null;
}

/** Status reads that may miss a signature after its notice before the notice alone is accepted. */
const READS_AFTER_NOTICE = 5;

/** A broadcast transaction without an outcome yet, awaited by one caller or several. */
export class PendingTransaction {
  readonly signature: string;
  /** The signed bytes in base64. */
  readonly encoded: string;
  /** Base58; undefined if the bytes are too short to hold one. */
  readonly blockhash: string | undefined;
  readonly lastValidBlockHeight: bigint;
  readonly senders: readonly Sender[];
  /** Senders that have not answered the previous broadcast yet; they get no second one. */
  readonly unanswered = new Set<Sender>();
  readonly accepted = new Set<Sender>();
  readonly refused = new Set<Sender>();
  readonly waiters = new Set<Waiter>();
  /** Broadcasts after the first, and when the next is due (monotonic milliseconds). */
  retries = 0;
  retryAtMs = 0;
  cancelSubscription: () => void = () => {};
  /** Replayed to a waiter that joins later. */
  readonly #events: LandingEvent[] = [];
  #notice: SignatureNotice | undefined;
  /** Status reads since the notice that missed the signature. */
  #missedReads = 0;
  /** The slot it was last seen in, which may still be dropped. */
  #processedSlot: bigint | undefined;

  constructor(order: LandingOrder, senders: readonly Sender[]) {
    this.signature = order.signature;
    this.encoded = Buffer.from(order.transaction).toString("base64");
    this.blockhash = recentBlockhash(order.transaction);
    this.lastValidBlockHeight = order.lastValidBlockHeight;
    this.senders = senders;
  }

  /** Adds a waiter and replays the events so far to it. */
  join(waiter: Waiter): void {
    this.waiters.add(waiter);
    for (const event of this.#events) waiter.onEvent?.(event);
  }

  /** Reports an event to every waiter, and later to those that join. */
  report(event: LandingEvent): void {
    this.#events.push(event);
    for (const waiter of this.waiters) waiter.onEvent?.(event);
  }

  /** Ends every wait with the outcome. */
  settle(outcome: LandingOutcome): void {
    this.cancelSubscription();
    for (const waiter of this.waiters) waiter.resolve(outcome);
  }

  receiveNotice(notice: SignatureNotice): void {
    this.#notice = notice;
    this.#missedReads = 0;
  }

  /** Takes in one status read; null if the read missed the signature. @returns the outcome once it is certain */
  receiveStatus(status: SignatureStatus | null): LandingOutcome | undefined {
    const notice = this.#notice;
    if (status === null) {
      if (notice === undefined || ++this.#missedReads < READS_AFTER_NOTICE) return undefined;
      return { kind: "landed", ...notice, commitment: "confirmed" };
    }
    const { slot, error } = status;
    if (slot !== this.#processedSlot) {
      this.#processedSlot = slot;
      this.report({ kind: "processed", slot });
    }
    if (status.commitment !== "processed") return { kind: "landed", slot, error, commitment: status.commitment };
    // The subscription asks for "confirmed": after its notice, a node that still says "processed" merely lags.
    return notice === undefined ? undefined : { kind: "landed", slot, error, commitment: "confirmed" };
  }
}
