import type { Now } from "../../primitives/clock.ts";
import type { AccountFeed } from "./account-feed.ts";
import type { FollowedAccount, FollowedAccounts } from "./followed-accounts.ts";
import type { StreamProgress } from "./stream-progress.ts";

/** Which followed accounts are to be read with a poll, and when. */
interface ReadPlan {
  /** A trade is about to be built on the account. True where it has not been read lately: it should be without delay. */
  use(entry: FollowedAccount, atMs: number): boolean;
  /** What a poll reads now. */
  due(): readonly FollowedAccount[];
  clear(): void;
}

interface ReadPlanOptions {
  readonly followed: FollowedAccounts;
  readonly feed: AccountFeed;
  readonly stream: StreamProgress;
  readonly now: Now;
  /** How often polls are. */
  readonly pollMs: number;
  readonly refreshMs: number;
  readonly verifyMs: number;
  readonly quietMs: number;
}

/** An account counts as in use for this long after a trade was built on it. */
const IN_USE_MS = 4_000;
/** Accounts in use that are read again with each poll at most; with more in use than that, each has its turn later. */
const VERIFIED_PER_POLL = 400;

/**
 * Plans what is read beside the stream: what it does not suffice for or is quiet about, every account now and then, and those
 * in use more often.
 */
export function createReadPlan({
  followed,
  feed,
  stream,
  now,
  pollMs,
  refreshMs,
  verifyMs,
  quietMs,
}: ReadPlanOptions): ReadPlan {
  /** Accounts that trades are built on, and when the last was. */
  const inUse = new Map<FollowedAccount, number>();

  return {
    use(entry, atMs) {
      const isUrgent = !inUse.has(entry) && entry.readAtMs < atMs - verifyMs;
      inUse.set(entry, atMs);
      return isUrgent;
    },
    due() {
      const atMs = now();
      const due = new Set(followed.unstreamed);
      const isLate = stream.isBehind();
      const isSomeQuiet = isLate || atMs - feed.leastLiveAtMs() > quietMs;
      // Spread over the whole time, however many were first read together.
      let toHeal = Math.ceil((followed.size * pollMs) / refreshMs) + 1;
      for (const entry of followed.values()) {
        const isOld = entry.readAtMs <= atMs - refreshMs && toHeal > 0;
        if (!isOld && !isSomeQuiet) break;
        if (!entry.streamed) continue;
        if (isOld) toHeal -= 1;
        if (isOld || isLate || atMs - feed.liveAtMs(entry.address) > quietMs) due.add(entry);
      }
      let toVerify = VERIFIED_PER_POLL;
      for (const [entry, usedAtMs] of inUse) {
        if (usedAtMs <= atMs - IN_USE_MS || !followed.has(entry)) inUse.delete(entry);
        else if (entry.streamed && entry.readAtMs <= atMs - verifyMs && toVerify > 0 && !due.has(entry)) {
          toVerify -= 1;
          due.add(entry);
          // Whoever was not verified in this poll goes first in the next.
          inUse.delete(entry);
          inUse.set(entry, usedAtMs);
        }
      }
      return [...due];
    },
    clear: () => inUse.clear(),
  };
}
