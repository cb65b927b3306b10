import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { type DialectAdapter, SqliteAdapter, type SqliteDatabase, SqliteDialect, type SqliteStatement } from "kysely";

/** Statements kept prepared. The queries of this service are a few dozen texts; lists of varying length make a few more. */
const PREPARED_STATEMENTS = 128;

/**
 * How long a statement waits for another process's write, in milliseconds. This wait stops the whole process, so it only
 * spans the usual write; the store waits longer without stopping anything.
 */
const BUSY_TIMEOUT_MS = 3;

/** Kysely's SQLite dialect over Node's own SQLite. */
export class NodeSqliteDialect extends SqliteDialect {
  constructor(file: string) {
    super({ database: async () => openDatabase(file) });
  }

  override createAdapter(): DialectAdapter {
    return new TransactionalSqliteAdapter();
  }
}

/** Migrations run whole or not at all, and one process after the other: SQLite can, Kysely's default does not ask it to. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** Gives Node's SQLite the shape Kysely expects: that of better-sqlite3. */
function openDatabase(file: string): SqliteDatabase {
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  // FULL: a commit is on the disk before it is acknowledged, so neither kill -9 nor a power cut takes it back.
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
  const prepared = new Map<string, SqliteStatement>();
  return {
    prepare(sql) {
      const known = prepared.get(sql);
      if (known !== undefined) return known;
      // Every transaction here writes. One that begins reading and turns to writing fails at once when another process
      // wrote in between; one that begins as a writer waits its turn.
      const statement = adaptStatement(database.prepare(sql === "begin" ? "begin immediate" : sql));
      if (prepared.size >= PREPARED_STATEMENTS) prepared.delete(prepared.keys().next().value!);
      prepared.set(sql, statement);
      return statement;
    },
    close: () => database.close(),
  };
}

function adaptStatement(statement: StatementSync): SqliteStatement {
  const bind = (parameters: readonly unknown[]) => parameters as SQLInputValue[];
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...bind(parameters)),
    run: (parameters) => statement.run(...bind(parameters)),
    iterate: (parameters) => statement.iterate(...bind(parameters)),
  };
}

/** True when another process was writing: nothing of the statement, or of the transaction it was to begin, has happened. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY;
}

const SQLITE_BUSY = 5;
