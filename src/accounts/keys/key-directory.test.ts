import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openStore } from "../store/store.ts";
import { createApiKey, hashApiKey, keyIdOf } from "./api-key.ts";
import { createKeyDirectory } from "./key-directory.ts";

test.each(["00", ""])("a key whose stored hash is damaged is unknown, not a fault: %o", async (hash) => {
  const dataDir = mkdtempSync(join(tmpdir(), "tradewire-keys-"));
  const store = await openStore({ dataDir });
  const pepper = new Uint8Array(32).fill(1);
  const keys = createKeyDirectory({ store, pepper, now: () => 0, epochMs: () => 0 });
  try {
    const apiKey = createApiKey(randomBytes);
    const row = {
      id: keyIdOf(apiKey),
      account_id: "acc",
      hash: hashApiKey(apiKey, pepper),
      label: "",
      created_at_ms: 0,
    };
    await store.run((db) =>
      db
        .insertInto("accounts")
        .values({ id: "acc", wallet: "1".repeat(32), created_at_ms: 0 })
        .execute(),
    );
    await store.run((db) =>
      db
        .insertInto("api_keys")
        .values({ ...row, revoked_at_ms: null, used_at_ms: null })
        .execute(),
    );
    await store.write(`update api_keys set hash = x'${hash}'`, []);
    await expect(keys.authenticate(apiKey)).rejects.toMatchObject({ code: "AUTH_ERROR" });
  } finally {
    keys.close();
    await store.close();
    rmSync(dataDir, { recursive: true });
  }
});
