import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { claimOf } from "../../test/support/claim.ts";
import { startPostgres } from "../../test/support/postgres.ts";
import { createSubmissions } from "../accounts/submissions.ts";
import type { Config } from "../process/config/settings.ts";
import { openAccounts } from "./account-parts.ts";
import { type AppContext, Closers } from "./context.ts";

const DAY_MS = 24 * 3_600_000;
const postgres = await startPostgres();
const dataDir = mkdtempSync(join(tmpdir(), "tradewire-account-parts-"));
afterAll(async () => {
  vi.useRealTimers();
  await postgres?.stop();
  rmSync(dataDir, { recursive: true });
});

if (postgres !== undefined)
  test("a machine whose clock is ahead keeps the outcomes that others have just written", async () => {
    const databaseUrl = await postgres.createDatabase();
    const closers = new Closers();
    const keys = { keepTradesHours: 24, revokedKeyDays: 90, idleKeyDays: 365, unusedKeyDays: 30 };
    const config = { dataDir, databaseUrl, ...keys } as unknown as Config;
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const now = () => Date.now() + 400 * DAY_MS;
    const { store } = await openAccounts({ config, now, closers } as unknown as AppContext);
    try {
      await createSubmissions(store, Date.now).finish(claimOf("new"), "done");
      await createSubmissions(store, () => Date.now() - 2 * DAY_MS).finish(claimOf("old"), "done");
      vi.advanceTimersByTime(60_000);
      const kept = () => store.run((db) => db.selectFrom("submissions").select("message_hash").execute());
      await expect.poll(kept).not.toContainEqual({ message_hash: "old" });
      expect(await kept()).toEqual([{ message_hash: "new" }]);
    } finally {
      await closers.close();
      postgres.release(databaseUrl);
    }
  });
