import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { Kysely } from "kysely";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { makeIndexes } from "./large-indexes.ts";
import { migrate } from "./migrations.ts";
import type { OpenDatabase } from "./open-database.ts";
import type { PostgresLimits } from "./postgres-limits.ts";
import type { Database, Schema } from "./schema.ts";
import { SqliteThreadDialect } from "./sqlite-dialect.ts";
import { SqliteFailure } from "./sqlite-thread.ts";
import { WriteRefusals } from "./write-refusals.ts";

const EMBEDDED_FILE = "tradewire.sqlite";

/** Subject and size of the row that is written to see whether the database takes writes. */
const PROBE = "!probe";
const PROBE_BYTES = 16_384;

const LIMITS: PostgresLimits = { connections: 10, connectMs: 2_000, statementMs: 5_000 };

/** The database of accounts, keys, challenges and submissions. What a call has written when it resolves survives a crash. */
export interface Store {
  /** True of the embedded database, false of PostgreSQL. */
  readonly isEmbedded: boolean;
  /** Runs queries. @throws TradewireError UPSTREAM_ERROR if the database does not answer */
  run<T>(work: (db: Database) => Promise<T>): Promise<T>;
  /** Runs one statement, whose text is made once, in the database's own form. @returns its rows @throws as `run` */
  query<R>(sql: string, parameters: readonly unknown[]): Promise<readonly R[]>;
  /** The same of a statement that returns no rows. @returns how many it has written @throws as `run` */
  write(sql: string, parameters: readonly unknown[]): Promise<number>;
  /** Runs queries that take effect together or not at all. @throws TradewireError UPSTREAM_ERROR, and what `work` throws */
  transact<T>(work: (db: Database) => Promise<T>): Promise<T>;
  /** Why the database takes no writes, in its words; undefined while it does, as far as any was made. */
  writeRefusal(): string | undefined;
  close(): Promise<void>;
}

/**
 * Opens the store and migrates its schema: PostgreSQL if `databaseUrl` is set, else an embedded SQLite file in `dataDir`,
 * created if absent and readable by its owner alone. Several processes may share either.
 *
 * @throws Error if the database cannot be reached or used; its cause says why
 */
export async function openStore(
  place: { readonly dataDir: string; readonly databaseUrl?: string | undefined },
  limits: PostgresLimits = LIMITS,
): Promise<Store> {
  const { dataDir, databaseUrl } = place;
  try {
    const { db, query, write, isFault } =
      databaseUrl === undefined ? await openEmbedded(dataDir) : await openServer(databaseUrl, limits);
    const refusals = new WriteRefusals(() => probeWrite(db));
    const reported = <T>(work: () => Promise<T>) => reporting(isFault, work, (error) => refusals.note(error));
    return {
      isEmbedded: databaseUrl === undefined,
      run: (work) => reported(() => work(db)),
      query: <R>(sql: string, parameters: readonly unknown[]) =>
        reported(() => query(sql, parameters) as Promise<readonly R[]>),
      write: (sql, parameters) => reported(() => write(sql, parameters)),
      transact: (work) => reported(() => db.transaction().execute(work)),
      writeRefusal: () => refusals.reason,
      close() {
        refusals.close();
        return db.destroy();
      },
    };
  } catch (cause) {
    const which = databaseUrl === undefined ? `in DATA_DIR, ${dataDir},` : "that DATABASE_URL names";
    throw new Error(`The database ${which} cannot be used.`, { cause });
  }
}

async function openEmbedded(dataDir: string): Promise<OpenDatabase> {
  const dialect = embedded(dataDir);
  const db: Database = new Kysely<Schema>({ dialect });
  try {
    await migrate(db);
    await makeIndexes(db);
    const query = dialect.query.bind(dialect);
    const write = dialect.write.bind(dialect);
    const isFault = (error: unknown) => error instanceof SqliteFailure && SQLITE_FAULTS.has(error.errcode & 0xff);
    return { db, query, write, isFault };
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

/** The driver is loaded only now, so that a start without a server does not pay for it. */
async function openServer(databaseUrl: string, limits: PostgresLimits): Promise<OpenDatabase> {
  const { openPostgres } = await import("./postgres.ts");
  return openPostgres(databaseUrl, limits);
}

function embedded(dataDir: string): SqliteThreadDialect {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  return new SqliteThreadDialect(ownFile(join(dataDir, EMBEDDED_FILE)));
}

/** As long as what a submit writes, so that it needs as much room: a row that no search of markets has, and its removal. */
async function probeWrite(db: Database): Promise<void> {
  const row = { subject: PROBE, venues: "-".repeat(PROBE_BYTES), first_at_ms: 0, at_ms: 0 };
  await db
    .insertInto("market_searches")
    .values(row)
    .onConflict((conflict) => conflict.column("subject").doUpdateSet({ venues: row.venues }))
    .execute();
  await db.deleteFrom("market_searches").where("subject", "=", PROBE).execute();
}

/** Creates the file if absent and restricts it to its owner. SQLite gives its side files the same mode. */
function ownFile(path: string): string {
  closeSync(openSync(path, "a", 0o600));
  chmodSync(path, 0o600);
  return path;
}

/** Does the work. Reports an outage as UPSTREAM_ERROR, which is worth a retry; throws a bug as it is. */
async function reporting<T>(
  isFault: OpenDatabase["isFault"],
  work: () => Promise<T>,
  note: (error: unknown) => void,
): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    note(cause);
    if (cause instanceof TradewireError || isBug(cause) || isFault(cause)) throw cause;
    throw new TradewireError("UPSTREAM_ERROR", "The account database does not answer. Try again shortly.", { cause });
  }
}

/** SQLite's result codes for a faulty statement: error, constraint, mismatch, misuse, range. */
const SQLITE_FAULTS = new Set([1, 19, 20, 21, 25]);

function isBug(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError) return true;
  return !(error instanceof Error);
}
