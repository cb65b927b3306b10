import { statSync } from "node:fs";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import type { SqliteAnswer, SqliteResult, SqliteTask } from "./sqlite-thread.ts";

/** Prepared statements kept. The service has a few dozen queries; lists of varying length add some more. */
const PREPARED_STATEMENTS = 128;

/** How long a statement waits for another process's write, in milliseconds. Blocks only this thread. */
const BUSY_TIMEOUT_MS = 5_000;

/** Upper bound of tasks per commit, so that none waits for too many others. */
const TASKS_PER_COMMIT = 512;

/**
 * The thread that owns the embedded database. Everything that arrived while the disk was busy is written in one commit;
 * answers go out once it is on disk.
 */
const port = parentPort!;
const path = workerData as string;
const file = pathToFileURL(path);
// Never makes it: in the place of a file that is away, an empty database would be written to, and readable by all.
file.search = "mode=rw";
const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
const inode = inodeAt(path);
// FULL: a commit is on disk before it is acknowledged, so it survives both kill -9 and a power cut.
database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");

// A transaction that starts with a read fails as soon as it writes if another process wrote in between; one that starts as a writer
// waits its turn.
const begin = database.prepare("BEGIN IMMEDIATE");
const commit = database.prepare("COMMIT");

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
  if (isReader) return { rows: rowsOf(statement, bound), changes: 0 };
  return { rows: [], changes: Number(statement.run(...bound).changes) };
}

/** The rows of a query. One damaged cell with more than a number can be does not take all the others with it. */
function rowsOf(statement: StatementSync, bound: readonly SQLInputValue[]): ReturnType<StatementSync["all"]> {
  try {
    return statement.all(...bound);
  } catch (error) {
    if ((error as { code?: string }).code !== "ERR_OUT_OF_RANGE" || !/^\s*select\b/i.test(statement.sourceSQL))
      throw error;
  }
  statement.setReadBigInts(true);
  try {
    const rows = statement.all(...bound);
    for (const row of rows)
      for (const [name, cell] of Object.entries(row)) if (typeof cell === "bigint") row[name] = Number(cell);
    return rows;
  } finally {
    statement.setReadBigInts(false);
  }
}

/** Runs one task: a query, or a statement of a transaction whose begin and end are separate tasks. */
function runAlone(task: SqliteTask): SqliteAnswer {
  try {
    return { id: task.id, result: run(task) };
  } catch (error) {
    return { id: task.id, failure: failureOf(error) };
  }
}

/** Runs tasks in one transaction. A faulty task fails alone; if the transaction is rolled back, all but queries fail, which run again. */
function runTogether(tasks: readonly SqliteTask[]): SqliteAnswer[] {
  const answers: SqliteAnswer[] = [];
  try {
    begin.run();
    for (const task of tasks) {
      const answer = runAlone(task);
      if (!database.isTransaction) throw Object.assign(new Error(answer.failure?.message), answer.failure);
      answers.push(answer);
    }
    commit.run();
    return answers;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    const failure = failureOf(error);
    return tasks.map((task) => (isQuery(task) ? runAlone(task) : { id: task.id, failure }));
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
    // Running the statement will report why it cannot be prepared.
    return false;
  }
}

function work(tasks: readonly SqliteTask[]): SqliteAnswer[] {
  // A single statement is its own transaction, begun as a writer if it writes.
  if (tasks.length === 1 || tasks.every((task) => task.alone || isQuery(task))) return tasks.map(runAlone);
  return runTogether(tasks);
}

/** The file's number; undefined if there is none by that name. */
function inodeAt(name: string): number | undefined {
  return statSync(name, { throwIfNoEntry: false })?.ino;
}

/** Ends this thread if the file was removed or replaced, as by a restored backup: what is written to the old one is lost with it. */
function checkFile(): void {
  if (inodeAt(path) !== inode) throw new Error("The database file has been removed or replaced.");
}

port.on("message", (first: readonly SqliteTask[] | "close") => {
  const tasks: SqliteTask[] = [];
  let next: readonly SqliteTask[] | "close" | undefined = first;
  while (next !== undefined && next !== "close") {
    tasks.push(...next);
    next = tasks.length < TASKS_PER_COMMIT ? receiveMessageOnPort(port)?.message : undefined;
  }
  if (tasks.length > 0) checkFile();
  for (let from = 0; from < tasks.length; from += TASKS_PER_COMMIT)
    port.postMessage(work(tasks.slice(from, from + TASKS_PER_COMMIT)));
  if (next !== "close") return;
  database.close();
  port.close();
});
