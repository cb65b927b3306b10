import { CompiledQuery, Kysely } from "kysely";
import pg from "pg";
import { makeIndexesBesideWrites } from "./large-indexes.ts";
import { currentSchema, migrate } from "./migrations.ts";
import type { OpenDatabase } from "./open-database.ts";
import { createPostgresDialect, READ_ONLY_SERVER } from "./postgres-dialect.ts";
import type { PostgresLimits } from "./postgres-limits.ts";
import type { Database, Schema } from "./schema.ts";

/** At a start nobody waits for an answer yet, and a machine that starts much at once is slow. */
const MIGRATION_LIMITS: PostgresLimits = { connections: 1, connectMs: 10_000, statementMs: 3_600_000 };

/** PostgreSQL's error classes for a faulty statement: data, constraint, cursor and transaction state, syntax or access. */
const FAULTS = new Set(["21", "22", "23", "24", "25", "42"]);

/**
 * Opens a PostgreSQL database and migrates its schema. Migrating a large table takes long, and so does waiting for a process that
 * does; queries have a short time-out.
 */
export async function openPostgres(databaseUrl: string, limits: PostgresLimits): Promise<OpenDatabase> {
  const connectMs = Math.max(limits.connectMs, MIGRATION_LIMITS.connectMs);
  const migrating = connect(databaseUrl, { ...MIGRATION_LIMITS, connectMs });
  try {
    await migrate(migrating, await currentSchema(migrating));
    await makeIndexesBesideWrites(migrating);
  } finally {
    await migrating.destroy();
  }
  const db = connect(databaseUrl, limits);
  const run = (sql: string, parameters: readonly unknown[]) => db.executeQuery(CompiledQuery.raw(sql, [...parameters]));
  return {
    db,
    query: async (sql, parameters) => (await run(sql, parameters)).rows,
    write: async (sql, parameters) => Number((await run(sql, parameters)).numAffectedRows ?? 0n),
    isFault,
  };
}

const connect = (databaseUrl: string, limits: PostgresLimits): Database =>
  new Kysely<Schema>({ dialect: createPostgresDialect(databaseUrl, limits) });

function isFault(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError && error.code !== READ_ONLY_SERVER && FAULTS.has(error.code?.slice(0, 2) ?? "")
  );
}
