import type { Submissions } from "../../accounts/port.ts";
import type { Now } from "../../primitives/clock.ts";
import type { Attempt } from "./attempt/attempt.ts";

/** Time for which an end is looked for again: longer than a database takes to fail over. Milliseconds. */
const WATCHED_MS = 300_000;
/** Ends looked for at once; with more, they take turns. */
const BATCH = 256;
const MAX_WATCHED = 1_024;

/** Ends that this process has recently answered. A database server that has taken over may lack them, so they are written again. */
export class RecentEnds {
  readonly #submissions: Pick<Submissions, "endedAmong">;
  readonly #now: Now;
  /** Until when each is looked for at least (epoch milliseconds); the one looked for longest ago first. */
  readonly #untilMs = new Map<Attempt, number>();

  constructor(submissions: Pick<Submissions, "endedAmong">, now: Now) {
    this.#submissions = submissions;
    this.#now = now;
  }

  /** Has the attempt, which has an outcome, looked for from now on. */
  add(attempt: Attempt): void {
    this.#untilMs.set(attempt, this.#now() + WATCHED_MS);
    if (this.#untilMs.size > MAX_WATCHED) this.#untilMs.delete(this.#untilMs.keys().next().value!);
  }

  /**
   * Writes those again that the database lacks: one that is away for long has them once it is back.
   *
   * @throws TradewireError UPSTREAM_ERROR while the database is away
   */
  async restore(): Promise<void> {
    const looked: [Attempt, number][] = [];
    for (const end of this.#untilMs) if (looked.push(end) === BATCH) break;
    if (looked.length === 0) return;
    const known = new Set(await this.#submissions.endedAmong(looked.map(([{ claim }]) => claim.messageHash)));
    for (const [attempt, untilMs] of looked) {
      const isKnown = known.has(attempt.claim.messageHash);
      if (!isKnown) void attempt.restoreOutcome();
      // Behind the others, unless it has made room meanwhile.
      const isWatched = this.#untilMs.delete(attempt) && (!isKnown || untilMs >= this.#now());
      if (isWatched) this.#untilMs.set(attempt, untilMs);
    }
  }
}
