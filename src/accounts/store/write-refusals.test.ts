import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { sql } from "kysely";
import pg from "pg";
import { afterAll, afterEach, beforeEach, expect, it, vi } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { startPostgres } from "../../../test/support/postgres.ts";
import { SqliteFailure } from "./sqlite-thread.ts";
import { openStore, type Store } from "./store.ts";
import { WriteRefusals } from "./write-refusals.ts";

const postgres = await startPostgres();
afterAll(() => postgres?.stop());

let folder: string;
let store: Store;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "tradewire-refusals-"));
  store = await openStore({ dataDir: folder });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** SQLite adds no page beyond that number, as if the disk were full. */
const limitPages = (pages: number) => store.run((db) => sql`pragma max_page_count = ${sql.lit(pages)}`.execute(db));

const fill = () =>
  store.write("insert into market_searches values (?, ?, 0, 0)", [`${Math.random()}`, "-".repeat(100_000)]);

it("says that a full disk takes no writes, though queries are answered, until one succeeds", async () => {
  await fill();
  expect(store.writeRefusal()).toBeUndefined();
  await limitPages(1);
  await expect(fill()).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
  expect(store.writeRefusal()).toBe("database or disk is full");
  expect(await store.query("select count(*) as n from market_searches", [])).toEqual([{ n: 1 }]);
  // Tried again, and still full.
  await new Promise((resolve) => setTimeout(resolve, 2_300));
  expect(store.writeRefusal()).toBe("database or disk is full");
  await limitPages(1_000_000);
  await eventually(() => expect(store.writeRefusal()).toBeUndefined());
  expect(await store.query("select count(*) as n from market_searches", [])).toEqual([{ n: 1 }]);
});

it("says that the embedded database's thread has ended, until another one takes a write", async () => {
  const begun = once(process, "worker");
  const other = await openStore({ dataDir: folder });
  const [thread] = (await begun) as [Worker];
  await thread.terminate();
  await expect(other.write("delete from markets", [])).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
  expect(other.writeRefusal()).toBe("The embedded database's thread has ended.");
  await eventually(() => expect(other.writeRefusal()).toBeUndefined());
  expect(await other.write("delete from markets", [])).toBe(0);
  await other.close();
});

it("says that its file is damaged while statements meet the damage, and for a minute after, though other writes succeed", async () => {
  await store.run((db) => sql`pragma wal_checkpoint(truncate)`.execute(db));
  const pages = await store.query<{ pageno: number }>("select pageno from dbstat where name like '%accounts%'", []);
  const file = openSync(join(folder, "tradewire.sqlite"), "r+");
  for (const { pageno } of pages) writeSync(file, Buffer.alloc(4_096, 0x5a), 0, 4_096, (pageno - 1) * 4_096);
  closeSync(file);
  const other = await openStore({ dataDir: folder });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    await expect(other.query("select * from accounts", [])).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
    for (let probes = 0; probes < 30; probes++) {
      expect(other.writeRefusal()).toBe("database disk image is malformed");
      await vi.advanceTimersByTimeAsync(2_000);
      // The probe writes twice; then it waits, or is over.
      while (vi.getTimerCount() === 0 && other.writeRefusal() !== undefined)
        expect(await other.write("delete from markets", [])).toBe(0);
    }
    expect(other.writeRefusal()).toBeUndefined();
  } finally {
    vi.useRealTimers();
    await other.close();
  }
});

it.skipIf(postgres === undefined)(
  "says that PostgreSQL's commits wait for a standby that is away, until one returns, though queries are answered",
  async () => {
    const databaseUrl = await postgres!.createDatabase();
    const limits = { connections: 2, connectMs: 5_000, statementMs: 2_000 };
    const served = await openStore({ dataDir: "", databaseUrl }, limits);
    const admin = new pg.Client(databaseUrl);
    await admin.connect();
    const waitFor = async (standbys: string) => {
      await admin.query(`alter system set synchronous_standby_names = '${standbys}'`);
      await admin.query("select pg_reload_conf()");
    };
    try {
      await waitFor("gone");
      const write = () => served.write("insert into market_searches values ($1, '', 0, 0)", [`${Math.random()}`]);
      await eventually(() => expect(write()).rejects.toMatchObject({ code: "UPSTREAM_ERROR" }));
      expect(served.writeRefusal()).toMatch(/timeout/);
      expect(await served.query("select count from revocation_count", [])).toHaveLength(1);
      await waitFor("");
      await eventually(() => expect(served.writeRefusal()).toBeUndefined());
    } finally {
      await waitFor("");
      await admin.end();
      await served.close();
    }
  },
);

it.each<[string, Error, boolean]>([
  ["SQLite's full disk", new SqliteFailure("full", 13), true],
  ["SQLite's read-only file", new SqliteFailure("read-only", 8 | (4 << 8)), true],
  ["SQLite's damaged file", new SqliteFailure("malformed", 11 | (1 << 8)), true],
  ["SQLite's file of something else", new SqliteFailure("not a database", 26), true],
  ["SQLite's lock", new SqliteFailure("busy", 5), false],
  ["PostgreSQL's full disk", Object.assign(new Error("full"), { code: "53100" }), true],
  ["PostgreSQL's standby", Object.assign(new Error("read-only"), { code: "25006" }), true],
  ["PostgreSQL's damaged data", Object.assign(new Error("invalid page"), { code: "XX001" }), true],
  ["PostgreSQL's damaged index", Object.assign(new Error("corrupted"), { code: "XX002" }), true],
  ["PostgreSQL's lost connection", Object.assign(new Error("gone"), { code: "ECONNRESET" }), false],
])("takes %s for what it is", (_, error, isRefusal) => {
  const refusals = new WriteRefusals(async () => {});
  refusals.note(error);
  expect(refusals.reason).toBe(isRefusal ? error.message : undefined);
  refusals.close();
});
