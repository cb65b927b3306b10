import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startSweeping } from "./retention.ts";
import { openStore, type Store } from "./store.ts";

const NOW_MS = 1_795_000_000_000;
const MINUTE_MS = 60_000;
const LIVES = { revokedMs: 1, idleMs: 1, unusedMs: 1, marketsMs: 1 };

let folder: string;
let store: Store;
let warnings: string[];
let stop: () => void;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "tradewire-retention-"));
  store = await openStore({ dataDir: folder });
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  warnings = [];
  const warn = (message: string) => void warnings.push(message);
  stop = startSweeping(store, LIVES, { now: () => NOW_MS, randomBytes, warn });
});
afterEach(async () => {
  stop();
  vi.useRealTimers();
  await store.close();
  rmSync(folder, { recursive: true });
});

async function addChallenge(message_hash: string): Promise<void> {
  const row = { message_hash, wallet: "wallet", expires_at_ms: 0, used_at_ms: null };
  await store.run((db) => db.insertInto("challenges").values(row).execute());
}

const challenges = () => store.run((db) => db.selectFrom("challenges").selectAll().execute());

test("rows that cannot be deleted keep no others, and the first failure of several is logged", async () => {
  await addChallenge("first");
  await store.write("alter table submissions rename to submissions_elsewhere", []);
  vi.advanceTimersByTime(MINUTE_MS);
  await expect.poll(challenges).toEqual([]);
  await expect.poll(() => warnings).toHaveLength(1);
  expect(warnings[0]).toContain("no such table: submissions");
  await addChallenge("second");
  vi.advanceTimersByTime(MINUTE_MS);
  await expect.poll(challenges).toEqual([]);
  await store.write("alter table submissions_elsewhere rename to submissions", []);
  await addChallenge("third");
  vi.advanceTimersByTime(MINUTE_MS);
  await expect.poll(challenges).toEqual([]);
  expect(warnings).toHaveLength(1);
});
