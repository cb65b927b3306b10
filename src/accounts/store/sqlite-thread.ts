import { nextTick } from "node:process";
import { Worker } from "node:worker_threads";

/** One statement for the thread that owns the database. */
export interface SqliteTask {
  readonly id: number;
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** True for a transaction's statements, begin and end included: they share no commit with others. */
  readonly alone: boolean;
}

/** What one statement returned. */
export interface SqliteResult {
  readonly rows: readonly unknown[];
  /** Rows written by a statement that returns none. */
  readonly changes: number;
}

/** The thread's answer to a task: a result, or why there is none. */
export interface SqliteAnswer {
  readonly id: number;
  readonly result?: SqliteResult;
  readonly failure?: { readonly message: string; readonly errcode: number };
}

/** An error of SQLite, with its result code. @see https://www.sqlite.org/rescode.html */
export class SqliteFailure extends Error {
  override readonly name = "SqliteFailure";
  readonly errcode: number;

  constructor(message: string, errcode: number) {
    super(message);
    this.errcode = errcode;
  }
}

/** SQLite's code for a database that cannot be used at all. */
const SQLITE_IOERR = 10;

/**
 * The embedded database in its own thread, so that a commit waits for the disk and the rest of the process does not. The
 * thread keeps the process alive only while a statement is pending.
 */
export class SqliteThread {
  /** Resolves once the thread has ended and its database is closed. */
  readonly exited: Promise<void>;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<SqliteResult>>();
  /** Asked for in this turn of the loop while the thread is busy. */
  #held: SqliteTask[] = [];
  #failure: SqliteFailure | undefined;
  #asked = 0;

  /** @param file an existing one, empty at first */
  constructor(file: string) {
    this.#worker = new Worker(new URL("./sqlite-worker.ts", import.meta.url), { workerData: file });
    this.#worker.unref();
    this.#worker.on("message", (answers: readonly SqliteAnswer[]) => this.#settle(answers));
    this.#worker.on("error", (error: unknown) => this.#end(error instanceof Error ? error.message : String(error)));
    this.exited = new Promise((resolve) => {
      this.#worker.once("exit", () => {
        this.#end("The embedded database's thread has ended.");
        resolve();
      });
    });
  }

  /** Runs a statement. Once this resolves, what it wrote survives a crash. @throws SqliteFailure */
  run(sql: string, parameters: readonly unknown[], alone: boolean): Promise<SqliteResult> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const waiting = Promise.withResolvers<SqliteResult>();
    const id = this.#asked++;
    const task: SqliteTask = { id, sql, parameters: parameters.map(exact), alone };
    if (this.#waiting.size === 0) {
      this.#worker.ref();
      this.#worker.postMessage([task]);
    } else if (this.#held.push(task) === 1) nextTick(this.#sendHeld);
    this.#waiting.set(id, waiting);
    return waiting.promise;
  }

  /** What one turn asks for comes to the thread in one piece, and is written in one commit. Its answers wait for the end of the turn anyway. */
  readonly #sendHeld = (): void => {
    const held = this.#held;
    this.#held = [];
    if (held.length > 0) this.#worker.postMessage(held);
  };

  /** Answers pending statements, then closes the database. */
  close(): Promise<void> {
    if (this.#failure === undefined) {
      this.#failure = new SqliteFailure("The embedded database has been closed.", SQLITE_IOERR);
      this.#worker.ref();
      this.#sendHeld();
      this.#worker.postMessage("close");
    }
    return this.exited;
  }

  #settle(answers: readonly SqliteAnswer[]): void {
    for (const { id, result, failure } of answers) {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (failure === undefined) waiting?.resolve(result!);
      else waiting?.reject(new SqliteFailure(failure.message, failure.errcode));
    }
    if (this.#waiting.size === 0 && this.#failure === undefined) this.#worker.unref();
  }

  #end(reason: string): void {
    const failure = new SqliteFailure(reason, SQLITE_IOERR);
    this.#failure ??= failure;
    for (const waiting of this.#waiting.values()) waiting.reject(failure);
    this.#waiting.clear();
  }
}

/** Bytes in memory of their own: a message to a thread holds the whole memory that its bytes lie in, 64 KiB of Node's pool. */
function exact(value: unknown): unknown {
  return value instanceof Uint8Array && value.length < value.buffer.byteLength ? new Uint8Array(value) : value;
}
