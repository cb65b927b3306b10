import type { DeleteResult } from "kysely";
import type { Now } from "../../primitives/clock.ts";
import type { RandomBytes } from "../../primitives/random.ts";
import { countRevocation } from "../keys/revocation-count.ts";
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
 * accounts that have none left. What cannot be deleted keeps nothing else.
 *
 * @param randomBytes see `countRevocation`
 * @throws TradewireError UPSTREAM_ERROR, once all has been tried
 */
export async function sweepStore(
  store: Store,
  nowMs: number,
  randomBytes: RandomBytes,
  lives?: RowLives,
): Promise<void> {
  const tradesMs = lives?.tradesMs ?? OUTCOME_LIFE_MS;
  const sweeps = [
    () => removeTrades(store, nowMs, tradesMs),
    () => removeUndecided(store, nowMs),
    () => removeSignatures(store, nowMs, tradesMs),
    () => removeChallenges(store, nowMs),
    async () => lives && removeKeys(store, nowMs, randomBytes, lives),
  ];
  const failures: unknown[] = [];
  for (const sweep of sweeps) {
    try {
      await sweep();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

function removeTrades(store: Store, nowMs: number, tradesMs: number): Promise<void> {
  return removeAll(store, (db) => {
    const old = db
      .selectFrom("submissions")
      .select("message_hash")
      .where("finished_at_ms", "<", nowMs - tradesMs)
      .limit(REMOVED_AT_ONCE);
    return db.deleteFrom("submissions").where("message_hash", "in", old);
  });
}

function removeUndecided(store: Store, nowMs: number): Promise<void> {
  return removeAll(store, (db) => {
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
}

function removeSignatures(store: Store, nowMs: number, tradesMs: number): Promise<void> {
  return removeAll(store, (db) => {
    const old = db
      .selectFrom("submission_signatures")
      .select("signature")
      // A trade is found by each of its signatures while it is kept.
      .where("stored_at_ms", "<", nowMs - Math.max(UNDECIDED_LIFE_MS, tradesMs))
      .limit(REMOVED_AT_ONCE);
    return db.deleteFrom("submission_signatures").where("signature", "in", old);
  });
}

function removeChallenges(store: Store, nowMs: number): Promise<void> {
  return removeAll(store, (db) => {
    const ended = db
      .selectFrom("challenges")
      .select("message_hash")
      .where("expires_at_ms", "<", nowMs - CHALLENGE_AFTERLIFE_MS)
      .limit(REMOVED_AT_ONCE);
    return db.deleteFrom("challenges").where("message_hash", "in", ended);
  });
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

/** What sweeping works with. */
interface SweepPorts {
  readonly now: Now;
  /** See `countRevocation`. */
  readonly randomBytes: RandomBytes;
  readonly warn: (message: string) => void;
}

/**
 * Sweeps the store every minute until the returned function is called. A failed sweep is repeated by the next one; the first of several
 * in a row is logged.
 */
export function startSweeping(store: Store, lives: AllLives, { now, randomBytes, warn }: SweepPorts): () => void {
  const markets = new MarketSweep(store, lives.marketsMs);
  let isBusy = false;
  let isFailing = false;
  let isStopped = false;
  const sweep = async () => {
    const failures: unknown[] = [];
    const note = (error: unknown) => void failures.push(error);
    await sweepStore(store, now(), randomBytes, lives).catch(note);
    await markets.step(now()).catch(note);
    // What is closed while it is swept has not failed.
    if (failures.length > 0 && !isFailing && !isStopped)
      warn(`Cannot delete outdated rows of the database, will try again every minute: ${String(failures[0])}`);
    isFailing = failures.length > 0;
  };
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    void sweep().finally(() => {
      isBusy = false;
    });
  }, SWEEP_EVERY_MS);
  timer.unref();
  return () => {
    isStopped = true;
    clearInterval(timer);
  };
}
