import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { SqliteThread } from "./sqlite-thread.ts";

/** Delay before a thread that ended on its own is replaced, so that one that cannot start does not spin. Milliseconds. */
const REPLACE_AFTER_MS = 500;

/** Kysely's SQLite over a file that a thread of its own reads and writes. */
export class SqliteThreadDialect implements Dialect {
  readonly #driver: ThreadDriver;

  constructor(file: string) {
    this.#driver = new ThreadDriver(file);
  }

  /** Runs a statement without Kysely, which takes as long as all else about it. @returns its rows @throws SqliteFailure */
  query(sql: string, parameters: readonly unknown[]): Promise<readonly unknown[]> {
    return this.#driver.query(sql, parameters);
  }

  /** The same of a statement that returns no rows. @returns how many it has written @throws SqliteFailure */
  write(sql: string, parameters: readonly unknown[]): Promise<number> {
    return this.#driver.write(sql, parameters);
  }

  createDriver(): Driver {
    return this.#driver;
  }

  createQueryCompiler(): SqliteQueryCompiler {
    return new SqliteQueryCompiler();
  }

  createAdapter(): SqliteAdapter {
    return new TransactionalSqliteAdapter();
  }

  createIntrospector(db: Kysely<unknown>): SqliteIntrospector {
    return new SqliteIntrospector(db);
  }
}

/** What Kysely's default does not ask of SQLite. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  /** The driver schedules queries: they need not wait for one another, and waiting ones share a commit. */
  override get supportsMultipleConnections(): boolean {
    return true;
  }

  /** Migrations run whole or not at all, and one process after the other. */
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/**
 * Statements go to the thread as they come; a transaction has it to itself from its beginning to its end. What a thread that
 * ends has not answered fails, and so does all that comes until it is replaced.
 */
class ThreadDriver implements Driver {
  readonly #file: string;
  #thread: SqliteThread | undefined;
  readonly #turns = new Turns();
  #replacing: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(file: string) {
    this.#file = file;
  }

  async init(): Promise<void> {
    this.#start();
  }

  #start(): void {
    const thread = new SqliteThread(this.#file);
    this.#thread = thread;
    void thread.exited.then(() => {
      if (!this.#isClosed) this.#replacing = setTimeout(() => this.#start(), REPLACE_AFTER_MS).unref();
    });
  }

  /** As a connection that is in no transaction does. */
  async query(sql: string, parameters: readonly unknown[]): Promise<readonly unknown[]> {
    const { rows } = await this.#turns.together(() => this.#thread!.run(sql, parameters, false));
    return rows;
  }

  async write(sql: string, parameters: readonly unknown[]): Promise<number> {
    const { changes } = await this.#turns.together(() => this.#thread!.run(sql, parameters, false));
    return changes;
  }

  async acquireConnection(): Promise<ThreadConnection> {
    return new ThreadConnection(() => this.#thread!, this.#turns);
  }

  async releaseConnection(): Promise<void> {}

  async beginTransaction(connection: ThreadConnection): Promise<void> {
    await connection.begin();
  }

  async commitTransaction(connection: ThreadConnection): Promise<void> {
    await connection.commit();
  }

  async rollbackTransaction(connection: ThreadConnection): Promise<void> {
    await connection.rollback();
  }

  async destroy(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#replacing);
    await this.#thread?.close();
  }
}

class ThreadConnection implements DatabaseConnection {
  readonly #current: () => SqliteThread;
  readonly #turns: Turns;
  /** The thread that the transaction has begun on. On another one its statements would take effect at once. */
  #own: SqliteThread | undefined;
  #endTurn: (() => void) | undefined;

  /** @param current the thread that is in use now */
  constructor(current: () => SqliteThread, turns: Turns) {
    this.#current = current;
    this.#turns = turns;
  }

  async begin(): Promise<void> {
    this.#endTurn = await this.#turns.alone();
    this.#own = this.#current();
    try {
      // Every transaction here writes; starting as a writer makes it wait its turn among the processes.
      await this.executeQuery(CompiledQuery.raw("begin immediate"));
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  /** If this fails, the following rollback ends the turn: no other work may come in between. */
  async commit(): Promise<void> {
    await this.executeQuery(CompiledQuery.raw("commit"));
    this.#leave();
  }

  async rollback(): Promise<void> {
    // On a full disk SQLite has already rolled back; callers should see the original error.
    await this.executeQuery(CompiledQuery.raw("rollback")).catch(() => {});
    this.#leave();
  }

  #leave(): void {
    this.#own = undefined;
    this.#endTurn?.();
    this.#endTurn = undefined;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, changes } = await (this.#own === undefined
      ? this.#turns.together(() => this.#current().run(sql, parameters, false))
      : this.#own.run(sql, parameters, true));
    return { rows: rows as R[], numAffectedRows: BigInt(changes) };
  }

  // biome-ignore lint/correctness/useYield: it is never iterated over
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("results are not streamed");
  }
}

/**
 * Admits either many workers together or one alone, in turns: those who work together wait for at most one who works alone, however many of
 * these wait.
 */
class Turns {
  #together = 0;
  #isAlone = false;
  /** Those who wait to work together. */
  #waiting: (() => void)[] = [];
  /** Those who wait to work alone, the first one first. */
  readonly #loners: (() => void)[] = [];

  async together<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isAlone || this.#loners.length > 0) await new Promise<void>((begin) => this.#waiting.push(begin));
    else this.#together++;
    try {
      return await work();
    } finally {
      this.#together--;
      this.#admitLoner();
    }
  }

  /** Waits for an exclusive turn. @returns a function that ends it */
  async alone(): Promise<() => void> {
    await new Promise<void>((begin) => {
      this.#loners.push(begin);
      this.#admitLoner();
    });
    return () => {
      this.#isAlone = false;
      const waiting = this.#waiting;
      this.#waiting = [];
      this.#together += waiting.length;
      for (const begin of waiting) begin();
      this.#admitLoner();
    };
  }

  #admitLoner(): void {
    if (this.#isAlone || this.#together > 0) return;
    const begin = this.#loners.shift();
    if (begin === undefined) return;
    this.#isAlone = true;
    begin();
  }
}
