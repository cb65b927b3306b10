import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { claimOf } from "../../test/support/claim.ts";
import { startPostgres, type TestPostgres } from "../../test/support/postgres.ts";
import { createSubmissions } from "../accounts/submissions.ts";
import type { Config } from "../config/settings.ts";
import { monotonicMs, steadyClock } from "../primitives/clock.ts";
import { openAccounts } from "./account-parts.ts";
import { type AppContext, Closers } from "./context.ts";

const DAY_MS = 24 * 3_600_000;
const postgres = await startPostgres();
const dataDir = mkdtempSync(join(tmpdir(), "tradewire-account-parts-"));
afterEach(() => void vi.useRealTimers());
afterAll(async () => {
  await postgres?.stop();
  rmSync(dataDir, { recursive: true });
});

/** The accounts of a process on a new database whose clock is off by so much. */
async function openOff(server: TestPostgres, offMs: number) {
  const databaseUrl = await server.createDatabase();
  const closers = new Closers();
  const lives = { keepTradesHours: 24, revokedKeyDays: 90, idleKeyDays: 365, unusedKeyDays: 30, keepMarketsDays: 30 };
  const config = { dataDir, databaseUrl, ...lives } as unknown as Config;
  const now = () => Date.now() + offMs;
  const steadyMs = steadyClock(now, monotonicMs);
  const parts = await openAccounts({ config, wallMs: now, steadyMs, closers } as unknown as AppContext);
  const close = async () => {
    await closers.close();
    server.release(databaseUrl);
  };
  return { ...parts, steadyMs, close };
}

describe.skipIf(postgres === undefined)("a machine whose clock is ahead", () => {
  test("keeps the outcomes that others have just written", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const { store, close } = await openOff(postgres!, 400 * DAY_MS);
    try {
      await createSubmissions(store, Date.now).finish(claimOf("new"), "done");
      await createSubmissions(store, () => Date.now() - 2 * DAY_MS).finish(claimOf("old"), "done");
      vi.advanceTimersByTime(60_000);
      const kept = () => store.run((db) => db.selectFrom("submissions").select("message_hash").execute());
      await expect.poll(kept).not.toContainEqual({ message_hash: "old" });
      expect(await kept()).toEqual([{ message_hash: "new" }]);
    } finally {
      await close();
    }
  });

  test("says of no search of markets that it was made later than it was", async () => {
    const { store, openMarketIndex, steadyMs, close } = await openOff(postgres!, DAY_MS / 2);
    try {
      await openMarketIndex("a network").add("a mint", [], { venues: ["venue"], atMs: steadyMs() });
      const [search] = await store.run((db) => db.selectFrom("market_searches").select("at_ms").execute());
      expect(search!.at_ms).toBeLessThan(Date.now() + DAY_MS / 24);
    } finally {
      await close();
    }
  });
});
