import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Time for a server that ends with its test to remove its own files. */
const PATIENCE_MS = 60_000;
/** With a longer path, sockets in a test's folder would have none: a hundred bytes are all that one may have. */
const LONGEST_PATH = 49;
/** As the system's own: the account that PostgreSQL runs under adds and removes its folder. */
const MODE = 0o1777;

/** What Node compiled in earlier runs: without it, a third of the time in which a test's process starts is spent on that. */
const COMPILED = resolve(import.meta.dirname, "../../node_modules/.cache/compiled");

/** The process whose run has a folder: each project of a run sets itself up in the same one. */
const OWNER = "TRADEWIRE_TESTS_PROCESS";

/** Gives the run a temporary folder of its own, one for all of its projects, and fails it if a test leaves a file there. */
export default function setup(): (() => Promise<void>) | undefined {
  const { TMPDIR: before, NODE_COMPILE_CACHE: cacheBefore } = process.env;
  if (process.env[OWNER] === `${process.pid}`) return undefined;
  process.env[OWNER] = `${process.pid}`;
  const folder = mkdtempSync(join(tmpdir().length > LONGEST_PATH ? "/tmp" : tmpdir(), "tradewire-tests-"));
  chmodSync(folder, MODE);
  process.env.TMPDIR = folder;
  process.env.NODE_COMPILE_CACHE = COMPILED;
  return async () => {
    delete process.env[OWNER];
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    if (cacheBefore === undefined) delete process.env.NODE_COMPILE_CACHE;
    else process.env.NODE_COMPILE_CACHE = cacheBefore;
    const left = () => readdirSync(folder).filter((name) => name.startsWith("tradewire-"));
    for (const endMs = Date.now() + PATIENCE_MS; left().length > 0 && Date.now() < endMs; ) await sleep(100);
    const names = left();
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    if (names.length > 0) throw new Error(`Temporary folders left behind by tests: ${names.join(", ")}`);
  };
}
