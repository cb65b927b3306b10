import type { DeleteResult } from "kysely";
import type { Now } from "../../primitives/clock.ts";
import type { Database } from "./schema.ts";
import type { Store } from "./store.ts";

/** How long the one terminal answer of a submission can be asked for again. */
const OUTCOME_LIFE_MS = 24 * 3_600_000;

/** How long a challenge is kept past its end, so that a late answer is told "expired" or "used" and not "unknown". */
const CHALLENGE_AFTERLIFE_MS = 3_600_000;

/** How long a submission that nobody can decide is kept: its token can no longer be opened, or its chain is gone. */
const UNDECIDED_LIFE_MS = 7 * 24 * 3_600_000;

/** Rows that one statement removes: it is done long before its time-out, and the writes of others come between. */
const REMOVED_AT_ONCE = 500;

/** Removes what nobody can ask for any more: submissions decided a day ago, challenges that ended an hour ago. */
export async function sweepStore(store: Store, nowMs: number): Promise<void> {
  await removeAll(store, (db) => {
    const old = db
      .selectFrom("submissions")
      .select("message_hash")
      .where("finished_at_ms", "<", nowMs - OUTCOME_LIFE_MS)
      .limit(REMOVED_AT_ONCE);
    return db.deleteFrom("submissions").where("message_hash", "in", old);
  });
  await removeAll(store, (db) => {
    const undecided = db
      .selectFrom("submissions")
      .select("message_hash")
      .where("outcome", "is", null)
      .where("lease_until_ms", "<", nowMs - UNDECIDED_LIFE_MS)
      .limit(REMOVED_AT_ONCE);
    return db.deleteFrom("submissions").where("message_hash", "in", undecided);
  });
  await removeAll(store, (db) => {
    const ended = db
      .selectFrom("challenges")
      .select("message_hash")
      .where("expires_at_ms", "<", nowMs - CHALLENGE_AFTERLIFE_MS)
      .limit(REMOVED_AT_ONCE);
    return db.deleteFrom("challenges").where("message_hash", "in", ended);
  });
}

/** Until nothing is left, or another process has removed the same rows. */
async function removeAll(
  store: Store,
  removal: (db: Database) => { executeTakeFirst(): Promise<DeleteResult | undefined> },
): Promise<void> {
  for (;;) {
    const removed = await store.run((db) => removal(db).executeTakeFirst());
    if (removed === undefined || removed.numDeletedRows === 0n) return;
  }
}

/**
 * Sweeps the store every `everyMs` milliseconds until the returned function is called. What a sweep could not remove is
 * left to the next.
 */
export function startSweeping(store: Store, now: Now, everyMs = 60_000): () => void {
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    sweepStore(store, now())
      .catch(() => {})
      .finally(() => {
        busy = false;
      });
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
