import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import type { SqliteAnswer, SqliteResult, SqliteTask } from "./sqlite-thread.ts";

/** Statements kept prepared. The queries of this service are a few dozen texts; lists of varying length make a few more. */
const PREPARED_STATEMENTS = 128;

/** How long a statement waits for another process's write, in milliseconds. It keeps nothing waiting but this thread. */
const BUSY_TIMEOUT_MS = 5_000;

/** Tasks of one commit at most, so that none waits for too many others. */
const TASKS_PER_COMMIT = 512;

/**
 * The thread that owns the embedded database. Whatever has come in while the disk was busy is written by one commit, and
 * nothing is answered before it is on the disk.
 */
const port = parentPort!;
const database = new DatabaseSync(workerData as string, { timeout: BUSY_TIMEOUT_MS });
// FULL: a commit is on the disk before it is acknowledged, so neither kill -9 nor a power cut takes it back.
database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");

interface Prepared {
  readonly statement: StatementSync;
  readonly isReader: boolean;
  readonly isQuery: boolean;
}

const prepared = new Map<string, Prepared>();

function prepare(sql: string): Prepared {
  const known = prepared.get(sql);
  if (known !== undefined) return known;
  const statement = database.prepare(sql);
  const one = { statement, isReader: statement.columns().length > 0, isQuery: /^\s*select\b/i.test(sql) };
  if (prepared.size >= PREPARED_STATEMENTS) prepared.delete(prepared.keys().next().value!);
  prepared.set(sql, one);
  return one;
}

function run({ sql, parameters }: SqliteTask): SqliteResult {
  const { statement, isReader } = prepare(sql);
  const bound = parameters as readonly SQLInputValue[];
  if (isReader) return { rows: statement.all(...bound), changes: 0 };
  return { rows: [], changes: Number(statement.run(...bound).changes) };
}

/** Runs a task for itself: a query, or a step of a transaction whose beginning and end are tasks of their own. */
function runAlone(task: SqliteTask): SqliteAnswer {
  try {
    return { id: task.id, result: run(task) };
  } catch (error) {
    return { id: task.id, failure: failureOf(error) };
  }
}

/** Runs tasks in one transaction. One that is wrong fails alone; where the whole is rolled back, all have failed. */
function runTogether(tasks: readonly SqliteTask[]): SqliteAnswer[] {
  const answers: SqliteAnswer[] = [];
  try {
    // One that begins reading and turns to writing fails at once when another process wrote in between; one that
    // begins as a writer waits its turn.
    database.exec("BEGIN IMMEDIATE");
    for (const task of tasks) {
      const answer = runAlone(task);
      if (!database.isTransaction) throw Object.assign(new Error(answer.failure?.message), answer.failure);
      answers.push(answer);
    }
    database.exec("COMMIT");
    return answers;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    const failure = failureOf(error);
    return tasks.map(({ id }) => ({ id, failure }));
  }
}

function failureOf(error: unknown): NonNullable<SqliteAnswer["failure"]> {
  const { message, errcode } = error as { message: string; errcode?: number };
  return { message, errcode: errcode ?? SQLITE_ERROR };
}

const SQLITE_ERROR = 1;

function isQuery({ sql }: SqliteTask): boolean {
  try {
    return prepare(sql).isQuery;
  } catch {
    // What cannot be prepared says why when it is run.
    return false;
  }
}

function work(tasks: readonly SqliteTask[]): SqliteAnswer[] {
  if (tasks.every((task) => task.alone || isQuery(task))) return tasks.map(runAlone);
  return runTogether(tasks);
}

port.on("message", (first: SqliteTask | "close") => {
  const tasks: SqliteTask[] = [];
  let next: SqliteTask | "close" | undefined = first;
  while (next !== undefined && next !== "close") {
    tasks.push(next);
    next = tasks.length < TASKS_PER_COMMIT ? receiveMessageOnPort(port)?.message : undefined;
  }
  if (tasks.length > 0) port.postMessage(work(tasks));
  if (next !== "close") return;
  database.close();
  port.close();
});
