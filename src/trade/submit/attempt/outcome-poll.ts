import type { Submissions } from "../../../accounts/port.ts";

const LOOK_MS = 5;
/** Asked for at once; with more waiting than that, the others have the next turn. */
const ASKED_AT_ONCE = 256;

/**
 * Hears of ends that other processes write down, soon after they have: by one look at the database for all who wait here,
 * again and again while anybody does.
 */
export class EndsElsewhere {
  readonly #submissions: Pick<Submissions, "endedAmong">;
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();
  #timer: NodeJS.Timeout | undefined;
  #looking = false;

  constructor(submissions: Pick<Submissions, "endedAmong">) {
    this.#submissions = submissions;
  }

  /** Resolves when the end of this message is written down. `forget` must follow, however the waiting ended. */
  ended(messageHash: string): Promise<void> {
    let waiting = this.#waiting.get(messageHash);
    if (waiting === undefined) {
      waiting = Promise.withResolvers();
      this.#waiting.set(messageHash, waiting);
      this.#timer ??= setInterval(() => void this.#look(), LOOK_MS);
    }
    return waiting.promise;
  }

  forget(messageHash: string): void {
    this.#waiting.delete(messageHash);
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    const asked = [...this.#waiting].slice(0, ASKED_AT_ONCE);
    try {
      const ended = new Set(await this.#submissions.endedAmong(asked.map(([messageHash]) => messageHash)));
      for (const [messageHash, waiting] of asked) {
        if (ended.has(messageHash)) waiting.resolve();
        else if (asked.length === ASKED_AT_ONCE && this.#waiting.delete(messageHash)) {
          this.#waiting.set(messageHash, waiting);
        }
      }
    } catch {
      // The database is away: whoever waits finds that out for themselves.
    } finally {
      this.#looking = false;
    }
  }
}
