import type { Now } from "../../../primitives/clock.ts";
import { isOversized, isUncertain } from "../../port.ts";
import type { AccountFeed } from "../account-feed.ts";
import type { FollowedAccount } from "../followed-account.ts";
import type { StreamProgress } from "../stream/stream-progress.ts";
import type { FollowedReads } from "./followed-reads.ts";
import type { ReadPlan } from "./read-plan.ts";

interface PollsOptions {
  readonly plan: ReadPlan;
  readonly reads: FollowedReads;
  readonly stream: StreamProgress;
  readonly feed: AccountFeed;
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** Silence after which the stream is considered stale. Milliseconds. */
  readonly quietMs: number;
  /** True if the nodes are compared with each other. */
  readonly isCompared: boolean;
}

/** Reads the followed accounts that are due: in each poll, and between two as soon as some have come to depend on reads. */
export class Polls {
  readonly #options: PollsOptions;
  #isReading = false;
  #isFailing = false;
  /** True while an account that is too large for any answer is followed. */
  #isLeavingOut = false;
  #isUrgent = false;
  #wasQuiet = false;

  constructor(options: PollsOptions) {
    this.#options = options;
  }

  /** Accounts have just started to depend on reads: they do not wait for the next poll. */
  hurry(): void {
    this.#isUrgent = true;
  }

  /** Reads what is due, unless the previous poll is still pending. */
  poll(): void {
    if (this.#isReading) return;
    this.#isUrgent = false;
    const due = this.#options.plan.due();
    if (due.length > 0) void this.#read(due);
  }

  /** Between two polls: reads what is due if it is urgent, or if the stream has just fallen silent. */
  pollIfUrgent(): void {
    const { stream, feed, now, quietMs } = this.#options;
    const isQuiet = stream.lagMs() > quietMs || now() - feed.leastLiveAtMs() > quietMs;
    const isNews = this.#isUrgent || (isQuiet && !this.#wasQuiet);
    this.#wasQuiet = isQuiet;
    if (isNews) this.poll();
  }

  async #read(due: readonly FollowedAccount[]): Promise<void> {
    const { reads, isCompared, warn } = this.#options;
    this.#isReading = true;
    try {
      await (isCompared ? reads.compare(due) : reads.read(due));
      this.#isFailing = false;
      this.#isLeavingOut = false;
    } catch (error) {
      // All other accounts have been read: this is logged once, and later node failures are still logged.
      const isOneLeftOut = isOversized(error) && !isUncertain(error);
      if (isOneLeftOut ? !this.#isLeavingOut : !this.#isFailing)
        warn(`Cannot read followed accounts: ${String(error)}`);
      this.#isFailing = !isOneLeftOut;
      if (isOneLeftOut) this.#isLeavingOut = true;
    } finally {
      this.#isReading = false;
    }
  }
}
