import type { Submissions } from "../../accounts/port.ts";
import type { Now } from "../../primitives/clock.ts";
import type { Attempt } from "./attempt/attempt.ts";

/** How long an end is checked for in the database once it is on record: longer than a failover takes. Milliseconds. */
const WATCHED_MS = 300_000;
/** Ends checked at once; if there are more, they take turns. */
const BATCH = 256;
const MAX_WATCHED = 1_024;

/**
 * Ends that this process has recently answered. After a failover, the database may lack them or show others, so they are written again, or
 * what the record says of them is taken over.
 */
export class RecentEnds {
  readonly #submissions: Pick<Submissions, "digestsAmong">;
  readonly #monotonicMs: Now;
  /** Until when each is checked at least (monotonic milliseconds), least recently checked first. */
  readonly #watched = new Map<Attempt, number>();

  /** @param monotonicMs a clock that nobody sets: no end is forgotten because the time was corrected */
  constructor(submissions: Pick<Submissions, "digestsAmong">, monotonicMs: Now) {
    this.#submissions = submissions;
    this.#monotonicMs = monotonicMs;
  }

  /** Checks the attempt, which has an outcome, from now on. */
  add(attempt: Attempt): void {
    this.#watched.set(attempt, this.#monotonicMs() + WATCHED_MS);
    if (this.#watched.size > MAX_WATCHED) this.#watched.delete(this.#watched.keys().next().value!);
  }

  /** Checks it no more: another end is on record. */
  drop(attempt: Attempt): void {
    this.#watched.delete(attempt);
  }

  /**
   * Writes again the ends that the database lacks: even after a long outage it gets them once it is back.
   *
   * @throws TradewireError UPSTREAM_ERROR while the database is away
   */
  async restore(): Promise<void> {
    const looked: [Attempt, number][] = [];
    for (const [attempt, untilMs] of this.#watched) {
      if (attempt.isTaken) this.drop(attempt);
      else if (looked.push([attempt, untilMs]) === BATCH) break;
    }
    if (looked.length === 0) return;
    const digests = await this.#submissions.digestsAmong(looked.map(([{ claim }]) => claim.messageHash));
    const atMs = this.#monotonicMs();
    for (const [attempt, untilMs] of looked) {
      const digest = digests.get(attempt.claim.messageHash);
      const isKnown = digest !== undefined && attempt.isRecordedAs(digest) && !attempt.isUnwritten;
      if (!isKnown) void attempt.restoreOutcome();
      // Moved behind the others, unless it was evicted meanwhile.
      const isWatched = this.#watched.delete(attempt) && (!isKnown || untilMs >= atMs);
      // What is written now may be lost by a failover soon after.
      if (isWatched) this.#watched.set(attempt, isKnown ? untilMs : atMs + WATCHED_MS);
    }
  }
}
