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

/** How long the first doubt lasts; each that follows soon lasts twice as long as the one before. Milliseconds. */
const FIRST_MS = 10_000;
const LONGEST_MS = 300_000;

/**
 * Accounts about which most nodes contradict the stream: for a while they come from reads alone. To be wrong about that costs a
 * few reads, so little evidence is enough, unlike for leaving the stream.
 */
export class DoubtedAccounts {
  readonly #options: DoubtedAccountsOptions;
  /** Also those that are over, as long as they make the next one longer. */
  readonly #doubts = new Map<FollowedAccount, Doubt>();

  constructor(options: DoubtedAccountsOptions) {
    this.#options = options;
  }

  /** The stream is not believed about the account from now on; if it was not before, for at least as long as a first doubt lasts. */
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

  /** Ends doubts whose time is over: what was discarded meanwhile has to be read first. */
  tick(): void {
    if (this.#doubts.size === 0) return;
    const { followed, stream, now } = this.#options;
    const atMs = now();
    for (const [entry, { untilMs, lastMs }] of this.#doubts) {
      if (atMs < untilMs && followed.has(entry)) continue;
      if (entry.isDoubted) {
        entry.isDoubted = false;
        if (entry.coveredFrom !== undefined && entry.coveredFrom < stream.slot) entry.coveredFrom = stream.slot;
      }
      if (atMs >= untilMs + lastMs || !followed.has(entry)) this.#doubts.delete(entry);
    }
  }

  clear(): void {
    this.#doubts.clear();
  }
}
