import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openStore, type Store } from "../store/store.ts";
import { createApiKey, hashApiKey, keyIdOf } from "./api-key.ts";
import { createKeyDirectory } from "./key-directory.ts";

const DAY_MS = 24 * 3_600_000;
const pepper = new Uint8Array(32).fill(1);

let dataDir: string;
let store: Store;
let apiKey: string;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "tradewire-keys-"));
  store = await openStore({ dataDir });
  apiKey = createApiKey(randomBytes);
  const account = { id: "acc", wallet: "1".repeat(32), created_at_ms: 0 };
  await store.run((db) => db.insertInto("accounts").values(account).execute());
  const key = { id: keyIdOf(apiKey), account_id: "acc", hash: hashApiKey(apiKey, pepper), label: "", created_at_ms: 0 };
  await store.run((db) =>
    db
      .insertInto("api_keys")
      .values({ ...key, revoked_at_ms: null, used_at_ms: null })
      .execute(),
  );
});

afterEach(async () => {
  await store.close();
  rmSync(dataDir, { recursive: true });
});

test.each(["00", ""])("a key whose stored hash is damaged is unknown, not a fault: %o", async (hash) => {
  const keys = createKeyDirectory({ store, pepper, now: () => 0, epochMs: () => 0 });
  try {
    await store.write(`update api_keys set hash = x'${hash}'`, []);
    await expect(keys.authenticate(apiKey)).rejects.toMatchObject({ code: "AUTH_ERROR" });
  } finally {
    keys.close();
  }
});

test("a note of a key's use that is written late takes no later one back", async () => {
  let [nowMs, statements] = [1_000, 0];
  const goOn = Promise.withResolvers<void>();
  let late: Promise<unknown> | undefined;
  const slow: Store = {
    ...store,
    run(work) {
      // The look-up of the key is the first.
      if (++statements !== 2) return store.run(work);
      const written = goOn.promise.then(() => store.run(work));
      late = written;
      return written;
    },
  };
  const usedAtMs = async () => {
    const [row] = await store.query<{ used_at_ms: number }>("select used_at_ms from api_keys", []);
    return row!.used_at_ms;
  };
  const now = () => nowMs;
  const keys = createKeyDirectory({ store: slow, pepper, now, epochMs: now, pollMs: 3_600_000 });
  try {
    await keys.authenticate(apiKey);
    nowMs += 2 * DAY_MS;
    await keys.refresh();
    await keys.authenticate(apiKey);
    await expect.poll(usedAtMs).toBe(nowMs);
    goOn.resolve();
    await late;
    expect(await usedAtMs()).toBe(nowMs);
  } finally {
    keys.close();
  }
});
