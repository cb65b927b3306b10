import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { TradewireError } from "../errors/tradewire-error.ts";
import { migrate } from "./migrations.ts";
import type { Database, Schema } from "./schema.ts";
import { SqliteThreadDialect } from "./sqlite-dialect.ts";
import { SqliteFailure } from "./sqlite-thread.ts";

const EMBEDDED_FILE = "tradewire.sqlite";

const POOL_CONNECTIONS = 10;
const CONNECT_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 5_000;

const POSTGRES_INT8 = 20;

/** Where accounts, keys, challenges and submissions are kept. What a call has written when it resolves survives a crash. */
export interface Store {
  /** Runs queries. @throws TradewireError UPSTREAM_ERROR when the database does not answer */
  run<T>(work: (db: Database) => Promise<T>): Promise<T>;
  /** Runs queries that take effect together or not at all. @throws TradewireError UPSTREAM_ERROR, and what `work` throws */
  transact<T>(work: (db: Database) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/**
 * Opens the store and brings its schema up to date: PostgreSQL where `databaseUrl` names one, else an embedded SQLite file
 * in `dataDir`, which is made if absent and readable by its owner alone. Several processes may share either.
 *
 * @throws TradewireError UPSTREAM_ERROR when the database cannot be reached
 */
export async function openStore(place: {
  readonly dataDir: string;
  readonly databaseUrl?: string | undefined;
}): Promise<Store> {
  const db: Database = new Kysely<Schema>({
    dialect: place.databaseUrl === undefined ? embedded(place.dataDir) : postgres(place.databaseUrl),
  });
  try {
    await reporting(() => migrate(db));
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return {
    run: (work) => reporting(() => work(db)),
    transact: (work) => reporting(() => db.transaction().execute(work)),
    close: () => db.destroy(),
  };
}

function embedded(dataDir: string): SqliteThreadDialect {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  return new SqliteThreadDialect(ownFile(join(dataDir, EMBEDDED_FILE)));
}

/** Creates the file if need be and closes it to everyone but its owner. SQLite gives its side files the same mode. */
function ownFile(path: string): string {
  closeSync(openSync(path, "a", 0o600));
  chmodSync(path, 0o600);
  return path;
}

function postgres(databaseUrl: string): PostgresDialect {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: POOL_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: STATEMENT_TIMEOUT_MS,
    keepAlive: true,
    // Milliseconds, counters and heights stay far below 2^53, where a number is exact.
    types: {
      getTypeParser: (oid: number, format?: string) =>
        oid === POSTGRES_INT8 && format !== "binary" ? Number : pg.types.getTypeParser(oid, format as "text"),
    },
  });
  // An idle connection that breaks is dropped by the pool; whoever asks next gets a new one or the error.
  pool.on("error", () => {});
  // One that breaks while it is lent, between two queries, has nobody else to tell, and would end the process.
  pool.on("connect", (client) => void client.on("error", () => {}));
  return new PostgresDialect({ pool });
}

/** Does the work, and tells an outage, which passes, from a fault of ours, which does not. */
async function reporting<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof TradewireError || !isOutage(cause)) throw cause;
    throw new TradewireError("UPSTREAM_ERROR", "The account database does not answer. Try again shortly.", { cause });
  }
}

/** SQLite's result codes for a statement that is wrong: error, constraint, mismatch, misuse, range. */
const SQLITE_FAULTS = new Set([1, 19, 20, 21, 25]);
/** PostgreSQL's classes for a statement that is wrong: data, constraint, cursor and transaction state, syntax or access. */
const POSTGRES_FAULTS = new Set(["21", "22", "23", "24", "25", "42"]);

function isOutage(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError) return false;
  if (error instanceof pg.DatabaseError) return !POSTGRES_FAULTS.has(error.code?.slice(0, 2) ?? "");
  if (error instanceof SqliteFailure) return !SQLITE_FAULTS.has(error.errcode & 0xff);
  return error instanceof Error;
}
