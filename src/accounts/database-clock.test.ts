import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { claimOf } from "../../test/support/claim.ts";
import { startPostgres } from "../../test/support/postgres.ts";
import { openDatabaseClock } from "./database-clock.ts";
import { openStore, type Store } from "./store/store.ts";
import { createSubmissions } from "./submissions.ts";

const HOUR_MS = 3_600_000;
const LEASE_MS = 60_000;
const postgres = await startPostgres();
const dataDir = mkdtempSync(join(tmpdir(), "tradewire-leases-"));
afterAll(async () => {
  await postgres?.stop();
  rmSync(dataDir, { recursive: true });
});

if (postgres !== undefined)
  test("PostgreSQL's clock says when a lease ends, whatever those of the processes say", async () => {
    const databaseUrl = await postgres.createDatabase();
    const store = await openStore({ dataDir, databaseUrl });
    /** Submissions of a process whose clock is off by so much, which claims a message. */
    const begin = async (owner: string, offMs: number) => {
      const elapsed = { ms: 0 };
      const clock = await openDatabaseClock(
        store,
        () => Date.now() + offMs,
        () => performance.now() + elapsed.ms,
      );
      const submissions = createSubmissions(store, clock.now);
      await submissions.claim(claimOf(owner), { owner, untilMs: submissions.nowMs() + LEASE_MS });
      const abandoned = async () => (await submissions.abandoned(10)).map(({ messageHash }) => messageHash);
      return { abandoned, clock, elapsed };
    };
    const all = [await begin("ahead", HOUR_MS), await begin("right", 0), await begin("behind", -HOUR_MS)];
    try {
      for (const { abandoned } of all) expect(await abandoned()).toEqual([]);
      for (const { abandoned, elapsed } of all) {
        elapsed.ms += LEASE_MS + 1_000;
        expect((await abandoned()).toSorted()).toEqual(["ahead", "behind", "right"]);
      }
    } finally {
      for (const { clock } of all) clock.close();
      await store.close();
      postgres.release(databaseUrl);
    }
  });

/** A server whose clock a test sets. */
function serverWith(server: { nowMs: number; isDown: boolean; answered?: Promise<void> }): Store {
  const query = async () => {
    if (server.isDown) throw new Error("away");
    const rows = [{ at_ms: server.nowMs }];
    await server.answered;
    return rows;
  };
  return { isEmbedded: false, query } as unknown as Store;
}

test("a server's clock that is set is followed, and goes on while the server is away", async () => {
  vi.useFakeTimers();
  try {
    const server = { nowMs: 5_000_000, isDown: false };
    const clock = await openDatabaseClock(serverWith(server), Date.now, () => performance.now());
    expect(clock.now()).toBe(5_000_000);
    server.isDown = true;
    await vi.advanceTimersByTimeAsync(30_000);
    expect(clock.now()).toBe(5_030_000);
    Object.assign(server, { nowMs: 9_000_000, isDown: false });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(clock.now()).toBe(9_000_000);
    clock.close();
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test("an answer that the server or this process is late with moves the clock nowhere", async () => {
  vi.useFakeTimers();
  try {
    const server: Parameters<typeof serverWith>[0] = { nowMs: 5_000_000, isDown: false };
    const clock = await openDatabaseClock(serverWith(server), Date.now, () => performance.now());
    const late = Promise.withResolvers<void>();
    Object.assign(server, { nowMs: 5_010_000, answered: late.promise });
    await vi.advanceTimersByTimeAsync(10_000);
    await vi.advanceTimersByTimeAsync(6_000);
    late.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(clock.now()).toBe(5_016_000);
    clock.close();
  } finally {
    vi.useRealTimers();
  }
});
