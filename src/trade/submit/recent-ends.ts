import type { Submissions } from "../../accounts/port.ts";
import type { Now } from "../../primitives/clock.ts";
import type { Attempt } from "./attempt/attempt.ts";

/** How long an end is checked for in the database: longer than a failover takes. Milliseconds. */
const WATCHED_MS = 300_000;
/** Ends checked at once; if there are more, they take turns. */
const BATCH = 256;
const MAX_WATCHED = 1_024;

/** Ends that this process has recently answered. After a failover, the database may lack them, so they are written again. */
export class RecentEnds {
  readonly #submissions: Pick<Submissions, "endedAmong">;
  readonly #monotonicMs: Now;
  /** Until when each is checked at least (monotonic milliseconds); least recently checked first. */
  readonly #untilMs = new Map<Attempt, number>();

  /** @param monotonicMs a clock that nobody sets: no end is forgotten because the time was corrected */
  constructor(submissions: Pick<Submissions, "endedAmong">, monotonicMs: Now) {
    this.#submissions = submissions;
    this.#monotonicMs = monotonicMs;
  }

  /** Checks the attempt, which has an outcome, from now on. */
  add(attempt: Attempt): void {
    this.#untilMs.set(attempt, this.#monotonicMs() + WATCHED_MS);
    if (this.#untilMs.size > MAX_WATCHED) this.#untilMs.delete(this.#untilMs.keys().next().value!);
  }

  /** Checks it no more: another end is on record. */
  drop(attempt: Attempt): void {
    this.#untilMs.delete(attempt);
  }

  /**
   * Writes again the ends that the database lacks: even after a long outage it gets them once it is back.
   *
   * @throws TradewireError UPSTREAM_ERROR while the database is away
   */
  async restore(): Promise<void> {
    const looked: [Attempt, number][] = [];
    for (const end of this.#untilMs) {
      if (end[0].isOutdone) this.drop(end[0]);
      else if (looked.push(end) === BATCH) break;
    }
    if (looked.length === 0) return;
    const known = new Set(await this.#submissions.endedAmong(looked.map(([{ claim }]) => claim.messageHash)));
    for (const [attempt, untilMs] of looked) {
      const isKnown = known.has(attempt.claim.messageHash) && !attempt.isUnwritten;
      // A failover may have lost what it corrected, and left the end before.
      if (!isKnown || attempt.isCorrection) void attempt.restoreOutcome();
      // Moved behind the others, unless it was evicted meanwhile.
      const isWatched = this.#untilMs.delete(attempt) && (!isKnown || untilMs >= this.#monotonicMs());
      if (isWatched) this.#untilMs.set(attempt, untilMs);
    }
  }
}
