import { BEGINNING_LENGTH, type Submissions } from "../../accounts/port.ts";
import type { Now } from "../../primitives/clock.ts";
import type { Attempt } from "./attempt/attempt.ts";
import { formatOutcome } from "./outcome/outcome.ts";

/** How long an end is checked for in the database: longer than a failover takes. Milliseconds. */
const WATCHED_MS = 300_000;
/** Ends checked at once; if there are more, they take turns. */
const BATCH = 256;
const MAX_WATCHED = 1_024;

/** Until when an end is checked at least (monotonic milliseconds), and how its outcome begins. */
interface WatchedEnd {
  readonly untilMs: number;
  readonly beginning: string;
}

/** Ends that this process has recently answered. After a failover, the database may lack them or show others, so they are written again. */
export class RecentEnds {
  readonly #submissions: Pick<Submissions, "beginningsAmong">;
  readonly #monotonicMs: Now;
  /** Least recently checked first. */
  readonly #watched = new Map<Attempt, WatchedEnd>();

  /** @param monotonicMs a clock that nobody sets: no end is forgotten because the time was corrected */
  constructor(submissions: Pick<Submissions, "beginningsAmong">, monotonicMs: Now) {
    this.#submissions = submissions;
    this.#monotonicMs = monotonicMs;
  }

  /** Checks the attempt, which has an outcome, from now on. */
  add(attempt: Attempt): void {
    const { outcome } = attempt;
    if (outcome === undefined) return;
    const beginning = formatOutcome(outcome).slice(0, BEGINNING_LENGTH);
    this.#watched.set(attempt, { untilMs: this.#monotonicMs() + WATCHED_MS, beginning });
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
    const looked: [Attempt, WatchedEnd][] = [];
    for (const [attempt, end] of this.#watched) {
      if (attempt.isOutdone || attempt.isTaken) this.drop(attempt);
      else if (looked.push([attempt, end]) === BATCH) break;
    }
    if (looked.length === 0) return;
    const hashes = looked.map(([{ claim }]) => claim.messageHash);
    const beginnings = await this.#submissions.beginningsAmong(hashes);
    for (const [attempt, end] of looked) {
      const isKnown = beginnings.get(attempt.claim.messageHash) === end.beginning && !attempt.isUnwritten;
      // A failover may have lost what it corrected, and left an end before that begins alike.
      if (!isKnown || attempt.isCorrection) void attempt.restoreOutcome();
      // Moved behind the others, unless it was evicted meanwhile.
      const isWatched = this.#watched.delete(attempt) && (!isKnown || end.untilMs >= this.#monotonicMs());
      if (isWatched) this.#watched.set(attempt, end);
    }
  }
}
