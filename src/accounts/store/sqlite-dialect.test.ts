import { once } from "node:events";
import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { Kysely, sql } from "kysely";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { SqliteThreadDialect } from "./sqlite-dialect.ts";

interface Schema {
  readonly marks: { readonly name: string; readonly weight: number };
}

let file: string;
const open: Kysely<Schema>[] = [];

function connect(): Kysely<Schema> {
  const db = new Kysely<Schema>({ dialect: new SqliteThreadDialect(file) });
  open.push(db);
  return db;
}

const put = (db: Kysely<Schema>, name: string, weight = 1) =>
  db.insertInto("marks").values({ name, weight }).returning("name").executeTakeFirst();
const names = async (db: Kysely<Schema>) => {
  const rows = await db.selectFrom("marks").select("name").orderBy("name").execute();
  return rows.map(({ name }) => name);
};

beforeEach(async () => {
  file = join(mkdtempSync(join(tmpdir(), "tradewire-sqlite-")), "marks.sqlite");
  writeFileSync(file, "");
  await sql`create table marks (name text primary key, weight integer not null check (weight > 0))`.execute(connect());
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((db) => db.destroy()));
  rmSync(dirname(file), { recursive: true, force: true });
});

it("writes together what arrives together, and fails a bad item alone", async () => {
  const db = connect();
  const ended = await Promise.allSettled(
    Array.from({ length: 2_000 }, (_, i) => put(db, `mark ${i % 1_500}`, i === 7 ? 0 : 1)),
  );
  // One breaks the rule on weights, which leaves its name to a later one; the other names come twice.
  expect(ended.filter(({ status }) => status === "rejected")).toHaveLength(500);
  expect(ended[7]).toMatchObject({ status: "rejected", reason: { name: "SqliteFailure", errcode: 275 } });
  expect(ended[1_507]).toMatchObject({ status: "fulfilled" });
  expect(await names(db)).toHaveLength(1_500);
});

it("answers queries that come with a write for which the disk has no room", async () => {
  const dialect = new SqliteThreadDialect(file);
  const db = new Kysely<Schema>({ dialect });
  open.push(db);
  await put(db, "known");
  await sql`pragma max_page_count = 1`.execute(db);
  const read = () => dialect.query("select name from marks", []);
  const before = read();
  const written = dialect.write("insert into marks (name, weight) values (?, 1)", ["-".repeat(100_000)]);
  const after = read();
  await expect(written).rejects.toMatchObject({ name: "SqliteFailure", errcode: 13 });
  expect(await Promise.all([before, after])).toEqual([[{ name: "known" }], [{ name: "known" }]]);
});

it("reports how many rows a statement wrote", async () => {
  const db = connect();
  await put(db, "one");
  await put(db, "two");
  const { numUpdatedRows } = await db.updateTable("marks").set({ weight: 2 }).executeTakeFirst();
  expect(numUpdatedRows).toBe(2n);
});

it("keeps others out of a transaction, and takes back what it has written", async () => {
  const db = connect();
  const inside = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const failing = db.transaction().execute(async (transaction) => {
    await transaction.insertInto("marks").values({ name: "taken back", weight: 1 }).execute();
    inside.resolve();
    await goOn.promise;
    throw new Error("changed its mind");
  });
  await inside.promise;
  const outside = put(db, "from outside");
  const next = db.transaction().execute((transaction) => names(transaction));
  goOn.resolve();
  await expect(failing).rejects.toThrow("changed its mind");
  await outside;
  await next;
  expect(await names(db)).toEqual(["from outside"]);
});

it("runs a statement by itself, after a transaction that has begun before", async () => {
  const dialect = new SqliteThreadDialect(file);
  const db = new Kysely<Schema>({ dialect });
  open.push(db);
  await put(db, "first");
  const goOn = Promise.withResolvers<void>();
  const inside = Promise.withResolvers<void>();
  const failing = db.transaction().execute(async (own) => {
    await put(own, "taken back");
    inside.resolve();
    await goOn.promise;
    throw new Error("changed its mind");
  });
  await inside.promise;
  const read = dialect.query("select name from marks where weight = ?", [1]);
  const wrong = dialect.query("select name from nowhere", []);
  goOn.resolve();
  await expect(failing).rejects.toThrow("changed its mind");
  expect(await read).toEqual([{ name: "first" }]);
  await expect(wrong).rejects.toMatchObject({ name: "SqliteFailure", errcode: 1 });
  await db.destroy();
  await expect(dialect.query("select 1", [])).rejects.toThrow("closed");
});

it("lets a statement wait for one transaction, however many follow", async () => {
  const db = connect();
  const begun: string[] = [];
  const [inside, goOn, next] = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
  const first = db.transaction().execute(async () => {
    inside!.resolve();
    await goOn!.promise;
  });
  await inside!.promise;
  const others = Array.from({ length: 3 }, (_, i) =>
    db.transaction().execute(async (own) => {
      await put(own, `transaction ${i}`);
      begun.push(`transaction ${i}`);
      next!.resolve();
    }),
  );
  const statement = put(db, "statement").then(() => begun.push("statement"));
  goOn!.resolve();
  await next!.promise;
  expect(begun).toEqual(["statement", "transaction 0"]);
  await Promise.all([first, statement, ...others]);
  expect(begun).toHaveLength(4);
});

it("writes a statement by itself and says how many rows it has written", async () => {
  const dialect = new SqliteThreadDialect(file);
  const db = new Kysely<Schema>({ dialect });
  open.push(db);
  await put(db, "known");
  const insert = "insert into marks (name, weight) values (?, ?) on conflict (name) do nothing";
  expect(await dialect.write(insert, ["new", 1])).toBe(1);
  expect(await dialect.write(insert, ["known", 2])).toBe(0);
  expect(await dialect.write("update marks set weight = 3 where name = ?", ["absent"])).toBe(0);
});

it("hands what a turn asks of the busy thread to it in one message, a first statement at once", async () => {
  const db = connect();
  await names(db);
  const posted = vi.spyOn(Worker.prototype, "postMessage");
  const writes = ["one", "two", "three", "four"].map((name) => put(db, name));
  await Promise.all(writes);
  const counts = posted.mock.calls.map(([tasks]) => tasks.length);
  posted.mockRestore();
  expect(counts).toEqual([1, 3]);
  expect(await names(db)).toEqual(["four", "one", "three", "two"]);
});

it("answers what a turn has asked for before it closes", async () => {
  const dialect = new SqliteThreadDialect(file);
  const db = new Kysely<Schema>({ dialect });
  await names(db);
  const insert = "insert into marks (name, weight) values (?, 1)";
  const writes = ["one", "two", "three"].map((name) => dialect.write(insert, [name]));
  await dialect.createDriver().destroy();
  expect(await Promise.all(writes)).toEqual([1, 1, 1]);
  expect(await names(connect())).toEqual(["one", "three", "two"]);
});

it("hands bytes to the thread without the memory they lie in", async () => {
  const posted = vi.spyOn(Worker.prototype, "postMessage");
  const db = connect();
  const bytes = Buffer.alloc(4_096, 7).subarray(100, 103);
  const { rows } = await sql<{ text: string }>`select hex(${bytes}) as text`.execute(db);
  expect(rows).toEqual([{ text: "070707" }]);
  const [sent] = posted.mock.calls.flatMap(([[task]]) => task.parameters);
  posted.mockRestore();
  expect(sent.buffer.byteLength).toBe(3);
});

it("takes back a transaction that cannot be committed before others have their turn", async () => {
  const db = connect();
  await sql`create table notes (mark text references marks (name) deferrable initially deferred)`.execute(db);
  const failing = db.transaction().execute(async (own) => {
    await put(own, "gone");
    await sql`insert into notes values ('absent')`.execute(own);
  });
  const others = ["one", "two", "three"].map((name) => put(db, name));
  await expect(failing).rejects.toMatchObject({ name: "SqliteFailure", errcode: 787 });
  await Promise.all(others);
  expect(await names(db)).toEqual(["one", "three", "two"]);
});

it("says why a transaction failed that the database itself has taken back", async () => {
  const db = connect();
  const failing = db
    .transaction()
    .execute((own) => sql`insert or rollback into marks (name, weight) values ('heavy', 0)`.execute(own));
  await expect(failing).rejects.toMatchObject({ name: "SqliteFailure", errcode: 275 });
  await put(db, "next");
  expect(await names(db)).toEqual(["next"]);
});

it("shares the file with other processes", async () => {
  const [first, second] = [connect(), connect()];
  const turns = Array.from({ length: 200 }, (_, i) =>
    i % 10 === 0
      ? first.transaction().execute(async (transaction) => {
          const known = await names(transaction);
          await transaction
            .insertInto("marks")
            .values({ name: `a${i}`, weight: known.length + 1 })
            .execute();
        })
      : put(i % 2 === 0 ? first : second, `b${i}`),
  );
  await Promise.all(turns);
  expect(await names(second)).toHaveLength(200);
});

it("lets statements of two threads take turns that come one by one and read before they write", async () => {
  const [first, second] = [connect(), connect()];
  const writeAll = async (db: Kysely<Schema>, letter: string) => {
    for (let i = 0; i < 40; i++)
      await sql`insert into marks select ${`${letter}${i}`}, count(*) + 1 from marks`.execute(db);
  };
  await Promise.all([writeAll(first, "a"), writeAll(second, "b")]);
  const weights = await first.selectFrom("marks").select("weight").orderBy("weight").execute();
  expect(weights.map(({ weight }) => weight)).toEqual(Array.from({ length: 80 }, (_, i) => i + 1));
});

it("answers what was asked before it is closed, and refuses what comes after", async () => {
  const db = connect();
  await put(db, "first");
  const asked = Array.from({ length: 49 }, (_, i) => put(db, `mark ${i}`));
  // Kysely takes a few turns to hand a query over; they go in order.
  await asked[0];
  await Promise.all([db.destroy(), ...asked]);
  await expect(put(db, "late")).rejects.toThrow(/destroyed|closed/);
  expect(await names(connect())).toHaveLength(50);
});

/** Runs what uses a database thread for the first time, and returns that thread. */
async function threadOf(use: () => Promise<unknown>): Promise<Worker> {
  const begun = once(process, "worker");
  await use();
  return (await begun)[0];
}

it("goes on with another thread once one has ended, and fails what the first one had not answered", async () => {
  const db = connect();
  const thread = await threadOf(() => put(db, "before"));
  const next = once(process, "worker");
  const pending = put(db, "pending");
  pending.catch(() => {});
  await thread.terminate();
  await Promise.allSettled([pending]);
  await expect(put(db, "between")).rejects.toMatchObject({ name: "SqliteFailure", errcode: 10 });
  await next;
  await put(db, "after");
  expect(await names(db)).toEqual(expect.arrayContaining(["after", "before"]));
  expect(await names(db)).not.toContain("between");
});

it("writes nothing of a transaction whose thread has ended, also on the thread that follows", async () => {
  const db = connect();
  const thread = await threadOf(() => put(db, "before"));
  const next = once(process, "worker");
  const cut = db.transaction().execute(async (own) => {
    await put(own, "first");
    await thread.terminate();
    await next;
    await put(own, "second");
  });
  await expect(cut).rejects.toMatchObject({ name: "SqliteFailure", errcode: 10 });
  await db.transaction().execute((own) => put(own, "after"));
  expect(await names(db)).toEqual(["after", "before"]);
});

it("makes no empty database on the thread that follows while the file is away", async () => {
  const db = connect();
  const thread = await threadOf(() => put(db, "before"));
  const next = once(process, "worker");
  renameSync(file, `${file}.away`);
  await thread.terminate();
  await next;
  await expect(put(db, "between")).rejects.toMatchObject({ name: "SqliteFailure", errcode: 10 });
  expect(existsSync(file)).toBe(false);
  renameSync(`${file}.away`, file);
  await expect.poll(() => names(db).catch(() => [])).toEqual(["before"]);
});

it("writes nothing to a file that was replaced, and goes on with the one in its place", async () => {
  const db = connect();
  await put(db, "before");
  await sql`pragma wal_checkpoint(truncate)`.execute(db);
  copyFileSync(file, `${file}.backup`);
  const next = once(process, "worker");
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${file}${suffix}`);
  await expect(put(db, "lost")).rejects.toThrow("removed or replaced");
  renameSync(`${file}.backup`, file);
  await next;
  await expect.poll(() => put(db, "after").catch(() => undefined)).toEqual({ name: "after" });
  await db.destroy();
  expect(await names(connect())).toEqual(["after", "before"]);
});

it("starts no other thread once it is closed", async () => {
  const db = connect();
  const thread = await threadOf(() => put(db, "before"));
  await thread.terminate();
  await expect(put(db, "between")).rejects.toThrow();
  let started = 0;
  const count = () => void started++;
  process.on("worker", count);
  await db.destroy();
  // Longer than it takes until one is replaced.
  await new Promise((resolve) => setTimeout(resolve, 700));
  process.off("worker", count);
  expect(started).toBe(0);
});

it("says what is wrong with a statement", async () => {
  await expect(sql`select name from nowhere`.execute(connect())).rejects.toThrow("no such table: nowhere");
});
