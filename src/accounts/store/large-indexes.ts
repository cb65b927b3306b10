import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { Database } from "./schema.ts";

/** Indexes of tables that may be large before they get them, by name: what each is on. One that has shipped is never edited. */
const INDEXES: Readonly<Record<string, string>> = {
  // An account's pending submissions, however many have ended.
  submissions_pending: "submissions (account_id, claimed_at_ms, message_hash) where outcome is null",
  // Keys revoked long ago, however many are live.
  api_keys_revoked: "api_keys (revoked_at_ms) where revoked_at_ms is not null",
  // Keys that were never used, however many others nobody has used of late.
  api_keys_unused: "api_keys (used_at_ms) where used_at_ms = created_at_ms",
  // What a process has counted since another one read it last, however many names it counted in the last minute.
  limit_usage_by_time: "limit_usage (owner, at_ms)",
};

/** The advisory lock of the process that makes indexes: any number that is not the migrator's. */
const LOCK = 4_126_977;
const LOCK_POLL_MS = 100;

/** Makes the indexes that are missing in the embedded database, which one process writes at a time. */
export async function makeIndexes(db: Database): Promise<void> {
  for (const [name, on] of Object.entries(INDEXES))
    await sql.raw(`create index if not exists ${name} on ${on}`).execute(db);
}

/**
 * Makes the indexes that are missing in PostgreSQL while processes that serve go on writing. Several processes may start at
 * once. What one left unfinished is made again.
 *
 * @param db whose connections close afterwards, which releases the lock
 * @throws Error from the database
 */
export async function makeIndexesBesideWrites(db: Database): Promise<void> {
  if ((await missingIndexes(db)).length === 0) return;
  await db.connection().execute(async (session) => {
    // A statement that waits for the lock would itself block the creation of the index.
    while (!(await takeLock(session))) await sleep(LOCK_POLL_MS);
    for (const name of await missingIndexes(session)) {
      await sql.raw(`drop index concurrently if exists ${name}`).execute(session);
      await sql.raw(`create index concurrently ${name} on ${INDEXES[name]}`).execute(session);
    }
  });
}

/** Those that queries cannot use: absent, or left invalid by a server or a process that died over them. */
async function missingIndexes(db: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_index i
    join pg_class c on c.oid = i.indexrelid
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = current_schema() and i.indisvalid`.execute(db);
  const usable = new Set(rows.map(({ name }) => name));
  return Object.keys(INDEXES).filter((name) => !usable.has(name));
}

async function takeLock(db: Database): Promise<boolean> {
  const { rows } = await sql<{ taken: boolean }>`select pg_try_advisory_lock(${sql.lit(LOCK)}) as taken`.execute(db);
  return rows[0]?.taken === true;
}
