import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createLimitUsage } from "../../src/accounts/limit-usage.ts";
import { openStore } from "../../src/accounts/store/store.ts";
import { LimitNote } from "../../src/api/call/limit-note.ts";
import { RateLimits } from "../../src/api/call/rate-limits.ts";
import { DEFAULT_API_SETTINGS } from "../support/api-settings.ts";

const PER_SECOND = 10;
const BURST_SECONDS = 2;
/** Between the calls of one who always calls as often as it may. */
const STEP_MS = 50;

/** One key calls all processes as often as they let it. @returns the calls that passed, beside what the policy allows */
async function share(processes: number, everyMs: number, intervals: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "tradewire-shared-limits-"));
  const store = await openStore({ dataDir: folder });
  let nowMs = 1_000_000;
  const now = () => nowMs;
  const settings = { ...DEFAULT_API_SETTINGS.limits, build: PER_SECOND, burstSeconds: BURST_SECONDS };
  try {
    const all = Array.from({ length: processes }, (_, i) => {
      const limits = new RateLimits(settings, now);
      limits.takeUsage();
      // A timer fires a little late each time.
      const dueMs = nowMs + Math.round((i * everyMs) / processes);
      return { limits, usage: createLimitUsage(store, `process ${i}`, now, now, everyMs), dueMs };
    });
    let passed = 0;
    const untilMs = nowMs + intervals * everyMs;
    for (; nowMs < untilMs; nowMs += STEP_MS)
      for (const one of all) {
        for (;;)
          try {
            one.limits.takeKey("build", "key", new LimitNote());
            passed++;
          } catch {
            break;
          }
        if (nowMs < one.dueMs) continue;
        one.dueMs = nowMs + everyMs + 1;
        one.limits.charge(await one.usage.exchange(one.limits.takeUsage()));
      }
    return passed / ((PER_SECOND * intervals * everyMs) / 1_000);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

it.each([
  { processes: 2, everyMs: 1_000, intervals: 150 },
  { processes: 8, everyMs: 1_000, intervals: 150 },
  { processes: 2, everyMs: 60_000, intervals: 40 },
  { processes: 5, everyMs: 60_000, intervals: 60 },
])(
  "$processes processes that exchange every $everyMs ms keep to one policy",
  async ({ processes, everyMs, intervals }) => {
    // One interval of each process in excess, before the others know of it.
    const excess = processes * (1 / intervals + (1_000 * BURST_SECONDS) / (everyMs * intervals));
    const passed = await share(processes, everyMs, intervals);
    expect(passed).toBeLessThanOrEqual(1 + excess);
    expect(passed).toBeGreaterThan(0.9);
  },
);
