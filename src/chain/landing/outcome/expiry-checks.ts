import type { Now } from "../../../primitives/clock.ts";
import type { RpcEndpoint } from "../../rpc/rpc-endpoint.ts";
import { MAX_SIGNATURES_PER_CALL, type SignatureStatus } from "../../rpc/signature-status.ts";
import type { Witnesses } from "../../rpc/witnesses.ts";
import type { LandingHead } from "../landing-head.ts";
import type { PendingTransaction } from "../pending-transaction.ts";
import { outvotes, proveExpiry } from "./expiry.ts";
import { reportDispute } from "./report-dispute.ts";

interface ExpiryChecksOptions {
  readonly witnesses: Witnesses;
  /** By signature; the owner adds and removes them. */
  readonly pending: ReadonlyMap<string, PendingTransaction>;
  readonly head: LandingHead;
  /** A monotonic clock, so that no jump of the wall clock delays the checks. */
  readonly monotonicMs: Now;
  readonly warn: (message: string) => void;
  readonly onExpired: (transaction: PendingTransaction) => void;
  /** Called if an endpoint has seen the transaction in a block after all. */
  readonly onSeen: (transaction: PendingTransaction, endpoint: RpcEndpoint, status: SignatureStatus) => void;
  /** Called if an endpoint has its record, though no status of it. */
  readonly onRecorded: (transaction: PendingTransaction) => void;
}

/** Slots between two attempts to prove an expiry. */
const CHECK_SLOTS = 4;
/** Undecided attempts after which callers and the log get the reason; a few are normal, because nodes are some slots apart. */
const CHECKS_UNTIL_DISPUTE = 8;

const SILENT_SEER = "a node that has shown it in a block gives no answer any more";

/** Looks for proof that overdue transactions have expired, every few slots. */
export class ExpiryChecks {
  readonly #options: ExpiryChecksOptions;
  #isChecking = false;
  #nextAtMs = 0;
  /** Where the next check begins among more transactions than it takes. */
  #start = 0;

  constructor(options: ExpiryChecksOptions) {
    this.#options = options;
  }

  /** Checks the transactions past their last valid block height, unless the last check was just now or still runs. */
  async checkIfDue(): Promise<void> {
    const { witnesses, pending, head, monotonicMs, onExpired, onSeen, onRecorded } = this.#options;
    if (monotonicMs() < this.#nextAtMs) return;
    if (this.#isChecking) return;
    const height = head.blockHeight();
    const overdue = this.#nextOf([...pending.values()].filter((one) => height > one.lastValidBlockHeight));
    if (overdue.length === 0) return;
    this.#isChecking = true;
    this.#nextAtMs = monotonicMs() + CHECK_SLOTS * head.slotMs();
    const findings = await proveExpiry(witnesses, overdue);
    this.#isChecking = false;
    for (const transaction of overdue) {
      const { isExpired, by, certain, isRecorded, seen, doubt: undecided } = findings.get(transaction.signature)!;
      if (seen !== undefined) onSeen(transaction, seen.by, seen.status);
      if (isRecorded && !isExpired) onRecorded(transaction);
      // What another node has shown counts, though that one is silent now.
      const isOutvoted = isExpired && !outvotes(certain, transaction.votes.shownBeside(by));
      if (isExpired && !isOutvoted) onExpired(transaction);
      const doubt = isOutvoted ? SILENT_SEER : undecided;
      if (doubt === undefined) continue;
      transaction.doubtfulChecks += 1;
      if (transaction.doubtfulChecks >= CHECKS_UNTIL_DISPUTE) reportDispute(transaction, doubt, this.#options);
    }
  }

  /** As many as one check takes, in turn, so that undecided ones do not hold up the others. */
  #nextOf(all: readonly PendingTransaction[]): readonly PendingTransaction[] {
    if (all.length <= MAX_SIGNATURES_PER_CALL) return all;
    const from = this.#start % all.length;
    this.#start = from + MAX_SIGNATURES_PER_CALL;
    return [...all.slice(from), ...all.slice(0, from)].slice(0, MAX_SIGNATURES_PER_CALL);
  }
}
