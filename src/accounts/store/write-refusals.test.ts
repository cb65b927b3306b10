import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { sql } from "kysely";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { SqliteFailure } from "./sqlite-thread.ts";
import { openStore, type Store } from "./store.ts";
import { WriteRefusals } from "./write-refusals.ts";

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
  await vi.waitFor(() => expect(store.writeRefusal()).toBeUndefined(), 5_000);
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

it.each<[string, Error, boolean]>([
  ["SQLite's full disk", new SqliteFailure("full", 13), true],
  ["SQLite's read-only file", new SqliteFailure("read-only", 8 | (4 << 8)), true],
  ["SQLite's lock", new SqliteFailure("busy", 5), false],
  ["PostgreSQL's full disk", Object.assign(new Error("full"), { code: "53100" }), true],
  ["PostgreSQL's standby", Object.assign(new Error("read-only"), { code: "25006" }), true],
  ["PostgreSQL's lost connection", Object.assign(new Error("gone"), { code: "ECONNRESET" }), false],
])("takes %s for what it is", (_, error, isRefusal) => {
  const refusals = new WriteRefusals(async () => {});
  refusals.note(error);
  expect(refusals.reason).toBe(isRefusal ? error.message : undefined);
  refusals.close();
});
