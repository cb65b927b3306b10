import type { Submissions } from "../../../accounts/port.ts";
import type { SubmittedTrade } from "../../trade.ts";
import { within } from "../waiting.ts";
import type { ProgressCache } from "./progress-cache.ts";

/** Longest that an answer waits for the database. Milliseconds. */
const WAIT_MS = 2_000;
/** Finalized trades kept in memory, for answers while the database is away. */
const MAX_FINALIZED = 4_096;

/**
 * Decides when a trade that landed is reported as finalized. Finality is final: once seen it is written, and from then on
 * no process asks a node again or reports less.
 */
export class Finality {
  readonly #submissions: Submissions;
  readonly #chain: ProgressCache;
  /** Finalized trades by message hash, with the write of that while it runs. */
  readonly #finalized = new Map<string, Promise<void> | undefined>();

  constructor(submissions: Submissions, chain: ProgressCache) {
    this.#submissions = submissions;
    this.#chain = chain;
  }

  /**
   * A trade that landed, finalized if it was reported so before or if the chain shows it now.
   *
   * @param landed the signature it landed under; absent: that of the trade, which was perhaps asked for by another one of its message
   */
  async complete(messageHash: string, trade: SubmittedTrade, landed = trade.signature): Promise<SubmittedTrade> {
    if (trade.status === "finalized") return trade;
    if (!this.#finalized.has(messageHash)) {
      const seen = await this.#chain.fetch(landed);
      if (seen?.commitment !== "finalized" || seen.slot !== trade.slot || seen.error != null) return trade;
    }
    await this.#write(messageHash);
    return asFinalized(trade);
  }

  /** A trade that landed, finalized if this or another process has reported it so. Asks no node. */
  async recall(messageHash: string, trade: SubmittedTrade): Promise<SubmittedTrade> {
    if (trade.status === "finalized") return trade;
    if (!this.#finalized.has(messageHash)) {
      const reading = this.#submissions.isFinalized(messageHash).catch(() => false);
      if ((await within(WAIT_MS, reading)) !== true) return trade;
      this.#remember(messageHash, undefined);
    }
    return asFinalized(trade);
  }

  /** Writes it, once at a time: a record that still lacks it with the next answer is another server's, or the write failed. */
  #write(messageHash: string): Promise<void> {
    const started = this.#finalized.get(messageHash);
    if (started !== undefined) return started;
    const writing = within(
      WAIT_MS,
      this.#submissions.finalize(messageHash).catch(() => false),
    ).then(() => {
      if (this.#finalized.has(messageHash)) this.#finalized.set(messageHash, undefined);
    });
    this.#remember(messageHash, writing);
    return writing;
  }

  #remember(messageHash: string, writing: Promise<void> | undefined): void {
    if (this.#finalized.size >= MAX_FINALIZED) {
      const [oldest] = this.#finalized.keys();
      this.#finalized.delete(oldest!);
    }
    this.#finalized.set(messageHash, writing);
  }
}

const asFinalized = (trade: SubmittedTrade): SubmittedTrade => ({ ...trade, status: "finalized" });
