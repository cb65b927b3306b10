import {
  type PostgresCursor,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from "kysely";
import pg from "pg";
import type { PostgresLimits } from "./postgres-limits.ts";

const POSTGRES_INT8 = 20;

/** PostgreSQL's code for a write to a read-only server, as the old primary is after a failover. */
export const READ_ONLY_SERVER = "25006";

/** Kysely's PostgreSQL over a connection pool that discards dead connections. */
export function createPostgresDialect(databaseUrl: string, limits: PostgresLimits): PostgresDialect {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: limits.connections,
    connectionTimeoutMillis: limits.connectMs,
    statement_timeout: limits.statementMs,
    query_timeout: limits.statementMs,
    // A machine that stops or vanishes in the middle of a transaction would hold its locks for hours.
    idle_in_transaction_session_timeout: limits.statementMs,
    keepAlive: true,
    // Milliseconds, counters and heights stay far below 2^53, where a number is exact.
    types: {
      getTypeParser: (oid: number, format?: string) =>
        oid === POSTGRES_INT8 && format !== "binary" ? Number : pg.types.getTypeParser(oid, format as "text"),
    },
  });
  // The pool drops an idle connection that breaks; the next query gets a new one or the error.
  pool.on("error", () => {});
  // A checked-out connection that breaks between two queries has no other listener; the event would end the process.
  pool.on("connect", (client) => void client.on("error", () => {}));
  return new PostgresDialect({ pool: new FreshPool(pool) });
}

/**
 * Checks out a pool's connections. Once one turns out broken, it and every connection opened before then are closed. The
 * pool alone would reuse them: a connection whose peer vanished silently stays open for a quarter of an hour, and every
 * query on it waits.
 */
class FreshPool implements PostgresPool {
  readonly #pool: pg.Pool;
  readonly #generations = new WeakMap<pg.PoolClient, number>();
  /** Rises with each broken connection; connections of earlier generations are not reused. */
  #generation = 0;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
    pool.on("connect", (client) => void this.#generations.set(client, this.#generation));
  }

  get options(): object {
    return this.#pool.options;
  }

  async connect(): Promise<PostgresPoolClient> {
    for (;;) {
      const client = await this.#pool.connect();
      if (this.#generations.get(client) === this.#generation) {
        return new PooledClient(client, () => {
          this.#generation++;
        });
      }
      client.release(true);
    }
  }

  end(): Promise<void> {
    return this.#pool.end();
  }
}

class PooledClient implements PostgresPoolClient {
  readonly #client: pg.PoolClient;
  readonly #onBroken: () => void;
  #isBroken = false;

  constructor(client: pg.PoolClient, onBroken: () => void) {
    this.#client = client;
    this.#onBroken = onBroken;
  }

  query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  query<R>(
    what: string | PostgresCursor<R>,
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    if (typeof what !== "string") throw new Error("results are not streamed");
    return this.#query(what, parameters) as Promise<PostgresQueryResult<R>>;
  }

  async #query(sql: string, parameters: readonly unknown[]): Promise<unknown> {
    try {
      return await this.#client.query(sql, [...parameters]);
    } catch (error) {
      // A server error about a statement arrives over a working connection; anything else is about the connection.
      if (!(error instanceof pg.DatabaseError) || error.code === READ_ONLY_SERVER) {
        this.#isBroken = true;
        this.#onBroken();
      }
      throw error;
    }
  }

  release(destroy = false): void {
    this.#client.release(destroy || this.#isBroken);
  }
}
