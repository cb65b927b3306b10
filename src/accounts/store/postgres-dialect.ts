import {
  type PostgresCursor,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from "kysely";
import pg from "pg";

const CONNECT_TIMEOUT_MS = 2_000;

const POSTGRES_INT8 = 20;

/** PostgreSQL's code for a write to a server that may only be read, as the old primary is after a failover. */
export const READ_ONLY_SERVER = "25006";

/** Kysely's PostgreSQL over a pool of connections that is rid of those that no longer answer. */
export function createPostgresDialect(
  databaseUrl: string,
  limits: {
    readonly connections: number;
    /** Longest a statement may take, in milliseconds. */
    readonly statementMs: number;
  },
): PostgresDialect {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: limits.connections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: limits.statementMs,
    query_timeout: limits.statementMs,
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
  return new PostgresDialect({ pool: new SoundPool(pool) });
}

/**
 * Lends a pool's connections, and closes those that come back unsound with all that are as old. The pool itself would lend
 * them again: one whose far end is gone without a word is open for a quarter of an hour to come, and every query waits
 * behind the lost one.
 */
class SoundPool implements PostgresPool {
  readonly #pool: pg.Pool;
  readonly #madeAtMs = new WeakMap<pg.PoolClient, number>();
  #unsoundBeforeMs = 0;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
    pool.on("connect", (client) => void this.#madeAtMs.set(client, performance.now()));
  }

  get options(): object {
    return this.#pool.options;
  }

  async connect(): Promise<PostgresPoolClient> {
    for (;;) {
      const client = await this.#pool.connect();
      if (this.#madeAtMs.get(client)! >= this.#unsoundBeforeMs) {
        return new LentClient(client, () => {
          this.#unsoundBeforeMs = performance.now();
        });
      }
      client.release(true);
    }
  }

  end(): Promise<void> {
    return this.#pool.end();
  }
}

class LentClient implements PostgresPoolClient {
  readonly #client: pg.PoolClient;
  readonly #foundUnsound: () => void;
  #isSound = true;

  constructor(client: pg.PoolClient, foundUnsound: () => void) {
    this.#client = client;
    this.#foundUnsound = foundUnsound;
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
      // What the server says about a statement comes over a sound connection; anything else is about the connection.
      if (!(error instanceof pg.DatabaseError) || error.code === READ_ONLY_SERVER) {
        this.#isSound = false;
        this.#foundUnsound();
      }
      throw error;
    }
  }

  release(destroy = false): void {
    this.#client.release(destroy || !this.#isSound);
  }
}
