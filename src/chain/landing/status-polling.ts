import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { asStatuses, decodeStatus, MAX_SIGNATURES_PER_CALL, type SignatureStatus } from "../rpc/signature-status.ts";
import type { Witnesses } from "../rpc/witnesses.ts";
import type { LandingHead } from "./landing-head.ts";
import type { PendingTransaction } from "./pending-transaction.ts";

interface StatusPollingOptions {
  readonly pool: RpcPool;
  readonly witnesses: Witnesses;
  /** By signature; the owner adds and removes them. */
  readonly pending: ReadonlyMap<string, PendingTransaction>;
  readonly head: LandingHead;
  readonly warn: (message: string) => void;
  /** Receives each status of each transaction, with the node that reported it. */
  readonly onStatus: (transaction: PendingTransaction, endpoint: RpcEndpoint, status: SignatureStatus) => void;
  /** Called after each round of reads. */
  readonly onRound: () => void;
}

/** Shortest pause between rounds. Milliseconds. */
const MIN_PERIOD_MS = 100;

/** Reads the status of every pending transaction once per slot, in as few calls as possible, from each endpoint in turn. */
export class StatusPolling {
  readonly #options: StatusPollingOptions;
  #timer: NodeJS.Timeout | undefined;
  #isReading = false;
  /** True if a round was asked for while another ran. */
  #isAskedAgain = false;
  /** Rounds so far: each begins at the next endpoint, the first at the preferred one. */
  #rounds = 0;
  #isFailing = false;

  constructor(options: StatusPollingOptions) {
    this.#options = options;
  }

  /** The number of the round that is pending; undefined between rounds. */
  get pendingRound(): number | undefined {
    return this.#isReading ? this.#rounds : undefined;
  }

  /** Makes sure that a round comes within a slot: a transaction just sent is in no block yet. Rounds repeat while any are pending. */
  begin(): void {
    if (!this.#isReading && this.#timer === undefined) this.#schedule();
  }

  /** Starts a round now, or right after the one that runs. */
  async poll(): Promise<void> {
    if (this.#isReading) {
      this.#isAskedAgain = true;
      return;
    }
    const { pending, onRound } = this.#options;
    this.stop();
    this.#isReading = true;
    this.#isAskedAgain = false;
    const all = [...pending.values()];
    const chunks: PendingTransaction[][] = [];
    for (let at = 0; at < all.length; at += MAX_SIGNATURES_PER_CALL)
      chunks.push(all.slice(at, at + MAX_SIGNATURES_PER_CALL));
    await Promise.all(chunks.map((chunk) => this.#read(chunk)));
    this.#rounds += 1;
    this.#isReading = false;
    onRound();
    if (pending.size === 0) return;
    if (this.#isAskedAgain) void this.poll();
    else this.#schedule();
  }

  /** Cancels the next round. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #schedule(): void {
    this.#timer = setTimeout(() => void this.poll(), Math.max(MIN_PERIOD_MS, this.#options.head.slotMs()));
  }

  async #read(chunk: readonly PendingTransaction[]): Promise<void> {
    const { pool, witnesses, head, warn, onStatus } = this.#options;
    // Nodes keep the statuses of the last few hundred slots in memory; older ones take a search of the history.
    const searchTransactionHistory = chunk.some((one) => head.blockHeight() > one.lastValidBlockHeight);
    try {
      const params = [chunk.map(({ signature }) => signature), { searchTransactionHistory }];
      let from: RpcEndpoint | undefined;
      const result = await pool.read("getSignatureStatuses", params, {
        startAt: this.#rounds,
        onAnswer: (endpoint) => {
          from = endpoint;
        },
      });
      const { slot, entries } = asStatuses(result, chunk.length);
      witnesses.noteSlot(from!, slot);
      let failure: unknown;
      chunk.forEach((transaction, i) => {
        try {
          const status = decodeStatus(entries[i]);
          if (status === null) {
            transaction.sighting.miss(slot);
            transaction.votes.receiveMiss(from!, slot);
          } else onStatus(transaction, from!, status);
        } catch (error) {
          failure ??= error;
        }
      });
      if (failure !== undefined) throw failure;
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) warn(`Cannot read signature statuses; relying on subscriptions: ${String(error)}`);
      this.#isFailing = true;
    }
  }
}
