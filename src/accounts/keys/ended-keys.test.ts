import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { openStore, type Store } from "../store/store.ts";
import { createApiKey, hashApiKey, keyIdOf } from "./api-key.ts";
import { createKeyDirectory, type LiveKeyDirectory } from "./key-directory.ts";
import { countRevocation } from "./revocation-count.ts";

const pepper = new Uint8Array(32).fill(1);
const KEYS = 1_200;
const MINUTE_MS = 60_000;

let dataDir: string;
let store: Store;
let statements: number;
let nowMs: number;
let apiKeys: readonly string[];
let keys: LiveKeyDirectory;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "tradewire-keys-"));
  store = await openStore({ dataDir });
  nowMs = 1_000_000_000;
  apiKeys = Array.from({ length: KEYS }, () => createApiKey(randomBytes));
  const account = { id: "acc", wallet: Address.from(randomBytes(32)).toString(), created_at_ms: 0 };
  await store.run((db) => db.insertInto("accounts").values(account).execute());
  for (let at = 0; at < KEYS; at += 400) {
    const rows = apiKeys.slice(at, at + 400).map((key) => ({
      id: keyIdOf(key),
      account_id: "acc",
      hash: hashApiKey(key, pepper),
      label: "",
      created_at_ms: 0,
      revoked_at_ms: null,
      used_at_ms: nowMs,
    }));
    await store.run((db) => db.insertInto("api_keys").values(rows).execute());
  }
  const counted: Store = {
    ...store,
    run(work) {
      statements++;
      return store.run(work);
    },
  };
  const now = () => nowMs;
  keys = createKeyDirectory({ store: counted, pepper, now, epochMs: now, pollMs: 3_600_000 });
  await keys.refresh();
  for (const key of apiKeys) await keys.authenticate(key);
  // A minute after the start all keys in use are looked up once more.
  nowMs += MINUTE_MS;
  await revoke(0);
  await keys.refresh();
  statements = 0;
});

afterEach(async () => {
  keys.close();
  await store.close();
  rmSync(dataDir, { recursive: true });
});

/** Another process revokes a key. */
const revoke = (index: number, atMs = nowMs) =>
  store.transact(async (db) => {
    const id = keyIdOf(apiKeys[index]!);
    await db.updateTable("api_keys").set({ revoked_at_ms: atMs }).where("id", "=", id).execute();
    await countRevocation(db, randomBytes);
  });

/** Another process deletes a key that nobody has called with for long. */
const remove = (index: number) =>
  store.transact(async (db) => {
    await db.deleteFrom("api_keys").where("id", "=", keyIdOf(apiKeys[index]!)).execute();
    await countRevocation(db, randomBytes, { isDeletion: true });
  });

const isKnown = (index: number) => keys.recall(apiKeys[index]!) !== undefined;

test("revocations every second are seen at once, without a look at every key in use", async () => {
  for (let second = 1; second <= 50; second++) {
    nowMs += 1_000;
    await revoke(second);
    await keys.refresh();
    expect(isKnown(second)).toBe(false);
  }
  // The count, and what was revoked since.
  expect(statements).toBe(100);
  expect(isKnown(51)).toBe(true);
  await expect(keys.authenticate(apiKeys[7]!)).rejects.toMatchObject({ code: "AUTH_ERROR" });
});

test("a revocation dated before others that were seen first is seen, if no longer than a transaction takes", async () => {
  await revoke(1, nowMs + 30_000);
  nowMs += 30_000;
  await keys.refresh();
  await revoke(2, nowMs - 59_000);
  await keys.refresh();
  expect(isKnown(2)).toBe(false);
  expect(statements).toBe(4);
});

test("a deleted key is seen at once", async () => {
  nowMs += 1_000;
  await remove(1);
  await keys.refresh();
  expect([isKnown(1), isKnown(2)]).toEqual([false, true]);
});

test("within a minute of any revocation all keys in use are looked up, those dated long before it included", async () => {
  nowMs += 1_000;
  await revoke(1, nowMs - 10 * MINUTE_MS);
  await keys.refresh();
  expect(isKnown(1)).toBe(true);
  // No other is revoked.
  nowMs += MINUTE_MS - 1_000;
  await keys.refresh();
  expect([isKnown(1), isKnown(2)]).toEqual([false, true]);
  statements = 0;
  nowMs += MINUTE_MS;
  await keys.refresh();
  expect(statements).toBe(1);
});

test("a database restored from a backup, which lacks the newest revocation, has all keys in use looked up", async () => {
  nowMs += 1_000;
  await revoke(1);
  await keys.refresh();
  nowMs += 1_000;
  await store.transact(async (db) => {
    // Key 0 was revoked last before the backup; keys 1 and 2 came after it.
    for (const index of [1, 2]) await db.deleteFrom("api_keys").where("id", "=", keyIdOf(apiKeys[index]!)).execute();
    await countRevocation(db, randomBytes);
  });
  await keys.refresh();
  expect([isKnown(2), isKnown(3)]).toEqual([false, true]);
});

test("a date yet to come hides no revocation", async () => {
  await revoke(1, nowMs + 3_600_000);
  nowMs += 1_000;
  await keys.refresh();
  await revoke(2);
  nowMs += 1_000;
  await keys.refresh();
  expect([isKnown(1), isKnown(2), isKnown(3)]).toEqual([false, false, true]);
});

test("when more are revoked than are read at once, all keys in use are looked up", async () => {
  nowMs += 1_000;
  const rows = Array.from({ length: 5_000 }, (_, i) => ({
    id: `other${i}`,
    account_id: "acc",
    hash: pepper,
    label: "",
    created_at_ms: 0,
    revoked_at_ms: nowMs + 500,
    used_at_ms: null,
  }));
  for (let at = 0; at < rows.length; at += 500)
    await store.run((db) =>
      db
        .insertInto("api_keys")
        .values(rows.slice(at, at + 500))
        .execute(),
    );
  await revoke(1);
  await keys.refresh();
  expect([isKnown(1), isKnown(2)]).toEqual([false, true]);
});
