import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { PATIENCE_MS } from "./eventually.ts";
import { freePorts } from "./free-ports.ts";

const DEBIAN_SERVERS = "/usr/lib/postgresql";
/** Where an initialized data folder is kept: a copy takes a sixth of the processor time of another `initdb`. */
const CACHE = resolve(import.meta.dirname, "../../node_modules/.cache");
/** Nothing here outlives its machine: a commit is as durable as its server's process, which some tests kill. */
const FOR_TESTS = ["fsync=off", "full_page_writes=off", "autovacuum=off", "listen_addresses=127.0.0.1"];

/** Runs a command until its pipe closes, at the latest with the test's process; then removes its folder. */
const UNTIL_LEFT = `"$@" 3<&- & server=$!
{ read -r _ <&3; kill -INT $server; } &
wait $server
rm -rf "$0"`;

export interface TestPostgres {
  /** Makes an empty database and returns its URL. */
  createDatabase(): Promise<string>;
  /** Takes back a database of which every connection is closed: `createDatabase` empties it, for a tenth of making another. */
  release(databaseUrl: string): void;
  stop(): Promise<void>;
}

/**
 * The PostgreSQL of the tests: the one in TEST_DATABASE_URL, or a temporary server of this machine's own
 * installation. Undefined if there is neither.
 */
export async function startPostgres(): Promise<TestPostgres | undefined> {
  const url = process.env.TEST_DATABASE_URL;
  if (url !== undefined && url !== "") return { ...databasesOn(url), stop: async () => {} };
  const programs = installedServer();
  return programs === undefined ? undefined : startServer(programs);
}

/** The folder with the newest installed server's programs; undefined if there is none. */
export function installedServer(): string | undefined {
  if (!existsSync(DEBIAN_SERVERS)) return undefined;
  return readdirSync(DEBIAN_SERVERS)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(DEBIAN_SERVERS, version, "bin"))
    .find((folder) => existsSync(join(folder, "initdb")));
}

/** A server of its own on this machine. */
export interface PostgresServer {
  /** Of its database `postgres`. */
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

async function startServer(programs: string): Promise<TestPostgres> {
  const { url, stop } = await startPostgresServer(programs, (data, user) => initialize(data, programs, user));
  return { ...databasesOn(url), stop };
}

/** Runs a server in a folder of its own. @param fill fills the server's data folder, with files of that user */
export async function startPostgresServer(
  programs: string,
  fill: (data: string, user: ServerUser) => void,
): Promise<PostgresServer> {
  const home = mkdtempSync(join(tmpdir(), "tradewire-postgres-"));
  const user = serverUser();
  if (user.uid !== undefined) chownSync(home, user.uid, user.gid!);
  const data = join(home, "data");
  fill(data, user);
  const port = await freePorts(1);
  const command = ["-D", data, "-p", `${port}`, "-k", "", ...FOR_TESTS.flatMap((setting) => ["-c", setting])];
  const server = spawn("sh", ["-c", UNTIL_LEFT, home, join(programs, "postgres"), ...command], {
    ...user,
    cwd: home,
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await answered(url, server);
  return {
    url,
    port,
    stop: async () => {
      const ended = new Promise((resolve) => server.once("exit", resolve));
      (server.stdio[3] as Writable).end();
      await ended;
    },
  };
}

/** Fills the data folder of a server: a copy of one made before, or a new one, of which a copy is kept. */
export function initialize(data: string, programs: string, user: ServerUser): void {
  const kept = join(CACHE, `${programs.slice(1).replaceAll("/", "-")}-utf8-${user.uid ?? process.getuid?.()}`);
  if (existsSync(kept)) {
    copy(kept, data);
    return;
  }
  const options = { ...user, cwd: resolve(data, ".."), stdio: "ignore" } as const;
  // A locale that the environment names and the machine lacks would be refused, and each orders and encodes in its own way.
  const alike = ["--no-locale", "--encoding=UTF8"];
  execFileSync(join(programs, "initdb"), ["-D", data, "-U", "postgres", "-A", "trust", "-N", ...alike], options);
  mkdirSync(CACHE, { recursive: true });
  const draft = mkdtempSync(join(CACHE, "postgres-"));
  copy(data, join(draft, "data"));
  // Of several that make the first one, one is kept.
  renameIfAbsent(join(draft, "data"), kept);
  rmSync(draft, { recursive: true, force: true });
}

function copy(from: string, to: string): void {
  execFileSync("cp", ["-a", from, to]);
}

function renameIfAbsent(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
  }
}

/** Who runs a server; empty: who runs the tests. */
export interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** The server refuses to run as root; its package comes with a user. */
function serverUser(): ServerUser {
  if (process.getuid?.() !== 0) return {};
  const id = (kind: string) => Number(execFileSync("id", [kind, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

async function answered(url: string, server: ChildProcess): Promise<void> {
  for (const deadline = Date.now() + PATIENCE_MS; ; ) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      return;
    } catch (error) {
      if (server.exitCode !== null || Date.now() > deadline) throw error;
      await sleep(50);
    } finally {
      await client.end().catch(() => {});
    }
  }
}

let databases = 0;

function databasesOn(serverUrl: string): Pick<TestPostgres, "createDatabase" | "release"> {
  const released: string[] = [];
  return {
    async createDatabase() {
      const again = released.pop();
      if (again !== undefined) {
        await query(again, "drop schema public cascade; create schema public");
        return again;
      }
      const name = `tradewire_${process.pid}_${Date.now()}_${databases++}`;
      await query(serverUrl, `create database ${name}`);
      const made = new URL(serverUrl);
      made.pathname = `/${name}`;
      return made.href;
    },
    release: (databaseUrl) => void released.push(databaseUrl),
  };
}

async function query(url: string, statements: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statements);
  await client.end();
}
