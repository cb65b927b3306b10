import type { Submissions } from "../../../accounts/port.ts";
import type { SubmittedTrade } from "../../trade.ts";
import { within } from "../waiting.ts";
import type { ProgressLooks } from "./progress-cache.ts";

/** An answer waits this long for the database. */
const WAIT_MS = 2_000;
/** Finalized trades remembered for answers that the database has no part in. */
const REMEMBERED = 4_096;

/**
 * Says "finalized" of trades that landed. What the chain has finalized stays so: it is written down, and from then on no
 * process asks a node for it or says less.
 */
export class Finality {
  readonly #submissions: Submissions;
  readonly #looks: ProgressLooks;
  /** Finalized trades by message hash, and the writing of it: undefined where that has failed. */
  readonly #finalized = new Map<string, Promise<void> | undefined>();

  constructor(submissions: Submissions, looks: ProgressLooks) {
    this.#submissions = submissions;
    this.#looks = looks;
  }

  /** A landed trade with the last word on it: as told before, else as the chain shows it now. */
  async complete(messageHash: string, trade: SubmittedTrade): Promise<SubmittedTrade> {
    if (trade.status === "finalized") return trade;
    if (!this.#finalized.has(messageHash)) {
      const seen = await this.#looks.take(trade.signature);
      if (seen?.commitment !== "finalized" || seen.slot !== trade.slot || seen.error != null) return trade;
    }
    await this.#write(messageHash);
    return asFinalized(trade);
  }

  /** A landed trade as told before, here or by another process; no node is asked. */
  async recall(messageHash: string, trade: SubmittedTrade): Promise<SubmittedTrade> {
    if (trade.status === "finalized") return trade;
    if (!this.#finalized.has(messageHash)) {
      const reading = this.#submissions.byMessageHash(messageHash).catch(() => undefined);
      const record = await within(WAIT_MS, reading);
      if (record?.isFinalized !== true) return trade;
      this.#remember(messageHash, Promise.resolve());
    }
    return asFinalized(trade);
  }

  /** Writes it down once; again with the next answer where that fails. */
  #write(messageHash: string): Promise<void> {
    const begun = this.#finalized.get(messageHash);
    if (begun !== undefined) return begun;
    const writing = within(
      WAIT_MS,
      this.#submissions.finalize(messageHash).catch(() => false),
    ).then((isWritten) => {
      if (isWritten !== true && this.#finalized.has(messageHash)) this.#finalized.set(messageHash, undefined);
    });
    this.#remember(messageHash, writing);
    return writing;
  }

  #remember(messageHash: string, writing: Promise<void>): void {
    if (this.#finalized.size >= REMEMBERED) {
      const [oldest] = this.#finalized.keys();
      this.#finalized.delete(oldest!);
    }
    this.#finalized.set(messageHash, writing);
  }
}

const asFinalized = (trade: SubmittedTrade): SubmittedTrade => ({ ...trade, status: "finalized" });
