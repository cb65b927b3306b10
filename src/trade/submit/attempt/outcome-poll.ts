import type { Submissions } from "../../../accounts/port.ts";

const POLL_MS = 5;
/** Messages per query; if more wait, they take turns. */
const BATCH = 256;

/** Polls the database for outcomes that other processes write: one query for all waits, and none without any. */
export class OutcomePoll {
  readonly #submissions: Pick<Submissions, "endedAmong">;
  /** By message hash. */
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();
  #timer: NodeJS.Timeout | undefined;
  #isPolling = false;

  constructor(submissions: Pick<Submissions, "endedAmong">) {
    this.#submissions = submissions;
  }

  /** Resolves when the outcome of the message is written. Call `forget` afterwards, however the wait ended. */
  outcomeWritten(messageHash: string): Promise<void> {
    let waiting = this.#waiting.get(messageHash);
    if (waiting === undefined) {
      waiting = Promise.withResolvers();
      this.#waiting.set(messageHash, waiting);
      this.#timer ??= setInterval(() => void this.#poll(), POLL_MS);
    }
    return waiting.promise;
  }

  /** Stops polling for the message. */
  forget(messageHash: string): void {
    this.#waiting.delete(messageHash);
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    const asked = [...this.#waiting].slice(0, BATCH);
    try {
      const ended = new Set(await this.#submissions.endedAmong(asked.map(([messageHash]) => messageHash)));
      for (const [messageHash, waiting] of asked) {
        if (ended.has(messageHash)) waiting.resolve();
        else if (asked.length === BATCH && this.#waiting.delete(messageHash)) this.#waiting.set(messageHash, waiting);
      }
    } catch {
      // The database is unavailable; the waiting attempts notice by their own reads.
    } finally {
      this.#isPolling = false;
    }
  }
}
