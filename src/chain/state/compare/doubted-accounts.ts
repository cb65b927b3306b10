import type { Now } from "../../../primitives/clock.ts";
import type { FollowedAccount } from "../followed-account.ts";
import type { FollowedAccounts } from "../followed-accounts.ts";
import type { StreamProgress } from "../stream/stream-progress.ts";

interface DoubtedAccountsOptions {
  readonly followed: FollowedAccounts;
  readonly stream: StreamProgress;
  readonly now: Now;
}

/** Times are epoch milliseconds. */
interface Doubt {
  untilMs: number;
  readonly lastMs: number;
}

/** Duration of a first doubt; each that follows soon lasts twice as long as the one before. Milliseconds. */
const FIRST_MS = 10_000;
const LONGEST_MS = 300_000;

/**
 * Accounts about which most nodes contradict the stream: for a while their state comes from reads alone. An unjust doubt costs a few reads,
 * so little evidence is enough, unlike for leaving the stream.
 */
export class DoubtedAccounts {
  readonly #options: DoubtedAccountsOptions;
  /** Includes past doubts for as long as they lengthen the next one. */
  readonly #doubts = new Map<FollowedAccount, Doubt>();

  constructor(options: DoubtedAccountsOptions) {
    this.#options = options;
  }

  /** Starts to doubt the stream about the account; a new doubt lasts at least as long as a first one. */
  begin(entry: FollowedAccount): void {
    const { followed, now } = this.#options;
    const known = this.#doubts.get(entry);
    if (entry.isDoubted && known !== undefined) {
      known.untilMs = Math.max(known.untilMs, now() + FIRST_MS);
      return;
    }
    const lastMs = known === undefined ? FIRST_MS : Math.min(2 * known.lastMs, LONGEST_MS);
    this.#doubts.set(entry, { untilMs: now() + lastMs, lastMs });
    entry.isDoubted = true;
    followed.doubt(entry);
  }

  /** Ends doubts whose time is over: what was discarded meanwhile must be read first. */
  tick(): void {
    if (this.#doubts.size === 0) return;
    const { followed, stream, now } = this.#options;
    const atMs = now();
    for (const [entry, { untilMs, lastMs }] of this.#doubts) {
      if (atMs < untilMs && followed.has(entry)) continue;
      if (entry.isDoubted) {
        entry.isDoubted = false;
        // Of the newest slot a part was discarded.
        if (entry.coveredFrom !== undefined && entry.coveredFrom <= stream.slot) entry.coveredFrom = stream.slot + 1n;
      }
      if (atMs >= untilMs + lastMs || !followed.has(entry)) this.#doubts.delete(entry);
    }
  }

  clear(): void {
    this.#doubts.clear();
  }
}
