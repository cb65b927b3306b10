import type { DeleteResult } from "kysely";
import type { Now } from "../../primitives/clock.ts";
import type { RandomBytes } from "../../primitives/random.ts";
import { MarketSweep } from "./market-sweep.ts";
import type { Database } from "./schema.ts";
import type { Store } from "./store.ts";

/** How long the outcome of a submission stays available by default. */
const OUTCOME_LIFE_MS = 24 * 3_600_000;

/** How long an expired challenge is kept, so that a late answer gets "expired" or "used" instead of "unknown". */
const CHALLENGE_AFTERLIFE_MS = 3_600_000;

/** How long an undecidable submission is kept: its token can no longer be opened, or its chain is gone. */
const UNDECIDED_LIFE_MS = 7 * 24 * 3_600_000;

/** Rows deleted per statement: small enough to stay far below the time-out and let other writes in. */
const REMOVED_AT_ONCE = 500;

const SWEEP_EVERY_MS = 60_000;

/** Size of the number drawn for a revocation: as many bytes as a buffer reads at once. */
const COUNT_BYTES = 6;

/** How long rows are kept. Milliseconds. API keys: 0 for ever. */
export interface RowLives {
  /** Submissions after their end; absent: a day. */
  readonly tradesMs?: number;
  /** Keys after their revocation. */
  readonly revokedMs: number;
  /** Keys after their last use. */
  readonly idleMs: number;
  /** Keys after their registration, if they were never used. */
  readonly unusedMs: number;
}

/** The same, of a process: with the index of markets. */
interface AllLives extends RowLives {
  /** Markets after the last search of their tokens; 0 for ever. */
  readonly marketsMs: number;
}

/**
 * Deletes outdated rows: submissions that ended long ago, challenges that expired an hour ago, and API keys by their lives, with the
 * accounts that have none left.
 *
 * @param randomBytes see `countRevocation`
 */
export async function sweepStore(
  store: Store,
  nowMs: number,
  randomBytes: RandomBytes,
  lives?: RowLives,
): Promise<void> {
  const tradesMs = lives?.tradesMs ?? OUTCOME_LIFE_MS;
  await removeAll(store, (db) => {
    const old = db
      .selectFrom("submissions")
      .select("message_hash")
      .where("finished_at_ms", "<", nowMs - tradesMs)
      .limit(REMOVED_AT_ONCE);
    return db.deleteFrom("submissions").where("message_hash", "in", old);
  });
  await removeAll(store, (db) => {
    const undecided = db
      .selectFrom("submissions")
      .select("message_hash")
      .where("outcome", "is", null)
      .where("lease_until_ms", "<", nowMs - UNDECIDED_LIFE_MS)
      // A process that stops hands over what it follows by a lease that ended long ago.
      .where("claimed_at_ms", "<", nowMs - UNDECIDED_LIFE_MS)
      .limit(REMOVED_AT_ONCE);
    return db.deleteFrom("submissions").where("message_hash", "in", undecided);
  });
  await removeAll(store, (db) => {
    const old = db
      .selectFrom("submission_signatures")
      .select("signature")
      // A trade is found by each of its signatures while it is kept.
      .where("stored_at_ms", "<", nowMs - Math.max(UNDECIDED_LIFE_MS, tradesMs))
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
  if (lives !== undefined) await removeKeys(store, nowMs, randomBytes, lives);
}

/**
 * A key in use is in no process's memory for longer than a day without its use being written down: no call is made with what
 * goes here, but a stream opened long ago may still run.
 */
async function removeKeys(
  store: Store,
  nowMs: number,
  randomBytes: RandomBytes,
  { revokedMs, idleMs, unusedMs }: RowLives,
): Promise<void> {
  const removeOf = (select: (db: Database) => ReturnType<typeof selectIds>) => removeKeysOf(store, select, randomBytes);
  const oldKeys = (db: Database) => selectIds(db).limit(REMOVED_AT_ONCE);
  if (revokedMs > 0) await removeOf((db) => oldKeys(db).where("revoked_at_ms", "<", nowMs - revokedMs));
  if (idleMs > 0) await removeOf((db) => oldKeys(db).where("used_at_ms", "<", nowMs - idleMs));
  if (unusedMs > 0)
    await removeOf((db) =>
      oldKeys(db)
        .where("used_at_ms", "<", nowMs - unusedMs)
        .whereRef("used_at_ms", "=", "created_at_ms"),
    );
}

/** Deletes the keys that a query selects, some at a time, and the accounts that have no other key. */
async function removeKeysOf(
  store: Store,
  select: (db: Database) => ReturnType<typeof selectIds>,
  randomBytes: RandomBytes,
): Promise<void> {
  for (;;) {
    const removed = await store.transact(async (db) => {
      const keys = await db
        .deleteFrom("api_keys")
        .where("id", "in", select(db))
        .returning(["account_id", "revoked_at_ms"])
        .execute();
      if (keys.some(({ revoked_at_ms }) => revoked_at_ms === null))
        await countRevocation(db, randomBytes, { isDeletion: true });
      const owners = [...new Set(keys.map(({ account_id }) => account_id))];
      if (owners.length > 0)
        await db
          .deleteFrom("accounts")
          .where("id", "in", owners)
          .where(({ not, exists, selectFrom }) =>
            not(exists(selectFrom("api_keys").select("id").whereRef("account_id", "=", "accounts.id"))),
          )
          .execute();
      return keys.length;
    });
    if (removed === 0) return;
  }
}

/**
 * Has every process look again at the keys that it or its streams use. A number drawn, not the next one: a database that takes over
 * without the last revocation would give the next one a number that processes have seen.
 *
 * @param isDeletion true if keys were deleted that were not revoked: the number is then odd, see `mayHaveDeleted`
 */
export const countRevocation = (db: Database, randomBytes: RandomBytes, { isDeletion = false } = {}) =>
  db
    .updateTable("revocation_count")
    .set({ count: 2 * Math.floor(randomBytes(COUNT_BYTES).readUIntBE(0, COUNT_BYTES) / 2) + (isDeletion ? 1 : 0) })
    .execute();

/** False if the count was set by a revocation; versions before this one drew any number. */
export const mayHaveDeleted = (count: number): boolean => count % 2 === 1;

const selectIds = (db: Database) => db.selectFrom("api_keys").select("id");

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
 * Sweeps the store every minute until the returned function is called. A failed sweep is repeated by the
 * next one.
 */
export function startSweeping(store: Store, now: Now, randomBytes: RandomBytes, lives: AllLives): () => void {
  const markets = new MarketSweep(store, lives.marketsMs);
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    sweepStore(store, now(), randomBytes, lives)
      .then(() => markets.step(now()))
      .catch(() => {})
      .finally(() => {
        busy = false;
      });
  }, SWEEP_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
