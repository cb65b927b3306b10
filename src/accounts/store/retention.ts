import type { DeleteResult } from "kysely";
import type { Now } from "../../primitives/clock.ts";
import type { Database } from "./schema.ts";
import type { Store } from "./store.ts";

/** How long the outcome of a submission stays available. */
const OUTCOME_LIFE_MS = 24 * 3_600_000;

/** How long an expired challenge is kept, so that a late answer gets "expired" or "used" instead of "unknown". */
const CHALLENGE_AFTERLIFE_MS = 3_600_000;

/** How long an undecidable submission is kept: its token can no longer be opened, or its chain is gone. */
const UNDECIDED_LIFE_MS = 7 * 24 * 3_600_000;

/** Rows deleted per statement: small enough to stay far below the time-out and let other writes in. */
const REMOVED_AT_ONCE = 500;

/** Deletes what has outlived its use: submissions decided a day ago, challenges that expired an hour ago. */
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
    const old = db
      .selectFrom("submission_signatures")
      .select("signature")
      .where("stored_at_ms", "<", nowMs - UNDECIDED_LIFE_MS)
      .limit(REMOVED_AT_ONCE);
    return db.deleteFrom("submission_signatures").where("signature", "in", old);
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

/** Repeats until nothing is left, or another process has deleted the same rows. */
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
 * Sweeps the store every `everyMs` milliseconds until the returned function is called. A failed sweep is repeated by the
 * next one.
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
