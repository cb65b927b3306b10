import type { Now } from "../../../primitives/clock.ts";
import type { AccountFeed } from "../account-feed.ts";
import type { FollowedAccount } from "../followed-account.ts";
import type { FollowedAccounts } from "../followed-accounts.ts";
import type { StreamProgress } from "../stream/stream-progress.ts";

interface ReadPlanOptions {
  readonly followed: FollowedAccounts;
  readonly feed: AccountFeed;
  readonly stream: StreamProgress;
  readonly now: Now;
  /** Time between polls. */
  readonly pollMs: number;
  readonly refreshMs: number;
  readonly verifyMs: number;
  readonly quietMs: number;
}

/** How long an account counts as in use after a trade was built on it. Milliseconds. */
const IN_USE_MS = 4_000;
/** Accounts of one call: once one is due, those due soon come along. */
const ACCOUNTS_PER_CALL = 100;
/** Upper bound of accounts in use re-read per poll; the rest take turns. */
const VERIFIED_PER_POLL = 400;
/** Most accounts in use that a poll examines, and most others that it reads: each takes about a millisecond in all. */
const SCANNED_PER_POLL = 2_000;
const MAX_PER_POLL = 5_000;

/**
 * Plans which followed accounts a poll reads: those that the stream does not cover or is silent about, every account now and then, and
 * accounts in use more often.
 */
export class ReadPlan {
  readonly #options: ReadPlanOptions;
  /** When a trade was last built on each account in use (epoch milliseconds). */
  readonly #inUse = new Map<FollowedAccount, number>();
  #polls = 0;

  constructor(options: ReadPlanOptions) {
    this.#options = options;
  }

  /** A trade is about to be built on the account. @returns true if it was not read lately and should be, without delay */
  use(entry: FollowedAccount, atMs: number): boolean {
    const isUrgent = !this.#inUse.has(entry) && entry.readAtMs < atMs - this.#options.verifyMs;
    this.#inUse.set(entry, atMs);
    return isUrgent;
  }

  /** What a poll reads now. */
  due(): readonly FollowedAccount[] {
    const atMs = this.#options.now();
    this.#polls += 1;
    const due = this.#options.followed.nextUnstreamed(MAX_PER_POLL);
    for (const entry of due) entry.plannedIn = this.#polls;
    this.#addQuietAndOld(due, atMs);
    this.#addInUse(due, atMs);
    return due;
  }

  clear(): void {
    this.#inUse.clear();
  }

  /** Adds it unless it is planned already. A table of thousands of accounts, made for each poll, would cost the collector more. */
  #plan(due: FollowedAccount[], entry: FollowedAccount): void {
    if (entry.plannedIn === this.#polls) return;
    entry.plannedIn = this.#polls;
    due.push(entry);
  }

  #addQuietAndOld(due: FollowedAccount[], atMs: number): void {
    const { followed, feed, stream, pollMs, refreshMs, quietMs } = this.#options;
    const isLate = stream.isBehind();
    const isSomeQuiet = isLate || atMs - feed.leastLiveAtMs() > quietMs;
    // Spread over the whole refresh time, however many were first read together, but in whole calls: nodes count those.
    const most = Math.max(ACCOUNTS_PER_CALL, Math.ceil((followed.size * pollMs) / refreshMs) + 1);
    const dueBeforeMs = this.#isAnyOld(atMs) ? atMs - refreshMs / 2 : atMs - refreshMs;
    let toHeal = most;
    // Least recently read accounts come first, so those left by this poll are first in the next.
    let toScan = MAX_PER_POLL;
    for (let entry = followed.lastReadFirst; entry !== undefined; entry = entry.after) {
      if (--toScan < 0) return;
      const isOld = entry.readAtMs <= dueBeforeMs && toHeal > 0;
      if (!isOld && !isSomeQuiet) return;
      if (!entry.streamed) continue;
      if (isOld) toHeal -= 1;
      if (isOld || isLate || atMs - feed.liveAtMs(entry.address) > quietMs) this.#plan(due, entry);
    }
  }

  /** True if the account read longest ago is due again. */
  #isAnyOld(atMs: number): boolean {
    const first = this.#options.followed.lastReadFirst;
    return first !== undefined && first.readAtMs <= atMs - this.#options.refreshMs;
  }

  #addInUse(due: FollowedAccount[], atMs: number): void {
    const { followed, verifyMs } = this.#options;
    let toVerify = VERIFIED_PER_POLL;
    let toScan = Math.min(this.#inUse.size, SCANNED_PER_POLL);
    for (const [entry, usedAtMs] of this.#inUse) {
      if (--toScan < 0) return;
      // Moved to the end of the queue: accounts not examined in this poll go first in the next.
      this.#inUse.delete(entry);
      if (usedAtMs <= atMs - IN_USE_MS || !followed.has(entry)) continue;
      this.#inUse.set(entry, usedAtMs);
      if (!entry.streamed || entry.readAtMs > atMs - verifyMs || toVerify === 0) continue;
      if (entry.plannedIn === this.#polls) continue;
      toVerify -= 1;
      this.#plan(due, entry);
    }
  }
}
