import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createLimitUsage } from "../../src/accounts/limit-usage.ts";
import { openStore, type Store } from "../../src/accounts/store/store.ts";
import { LimitNote } from "../../src/api/call/limit-note.ts";
import { RateLimits } from "../../src/api/call/rate-limits.ts";
import { createRandom } from "../../src/primitives/random.ts";
import { DEFAULT_API_SETTINGS } from "../support/api-settings.ts";

const PER_SECOND = 10;
const BURST_SECONDS = 2;
/** Between the calls of one who always calls as often as it may. */
const STEP_MS = 50;
const AWAY = new Error("the database is away");
const STEPS_PER_CALL = 1_000 / PER_SECOND / STEP_MS;

interface Sharing {
  readonly processes: number;
  readonly everyMs: number;
  readonly intervals: number;
  /** The database answers no exchange of these, or none of the first process alone. */
  readonly away?: { readonly from: number; readonly to: number; readonly alone?: boolean };
}

/**
 * Processes that share limits, on a clock of their own.
 *
 * @param step calls them at each step
 */
async function share(
  { processes, everyMs, intervals, away = { from: 0, to: 0 } }: Sharing,
  step: (all: readonly RateLimits[]) => void,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "tradewire-shared-limits-"));
  const store = await openStore({ dataDir: folder });
  let isAway = false;
  const shared: Store = {
    ...store,
    run: (work) => (isAway ? Promise.reject(AWAY) : store.run(work)),
    query: (text, parameters) => (isAway ? Promise.reject(AWAY) : store.query(text, parameters)),
    write: (text, parameters) => (isAway ? Promise.reject(AWAY) : store.write(text, parameters)),
  };
  let nowMs = 1_000_000;
  const now = () => nowMs;
  const settings = { ...DEFAULT_API_SETTINGS.limits, build: PER_SECOND, burstSeconds: BURST_SECONDS };
  try {
    const all = Array.from({ length: processes }, (_, i) => {
      const limits = new RateLimits(settings, now);
      limits.takeUsage();
      // A timer fires a little late each time.
      const dueMs = nowMs + Math.round((i * everyMs) / processes);
      return { limits, usage: createLimitUsage(shared, `process ${i}`, now, now, everyMs), dueMs };
    });
    const beganMs = nowMs;
    const untilMs = nowMs + intervals * everyMs;
    for (; nowMs < untilMs; nowMs += STEP_MS) {
      step(all.map(({ limits }) => limits));
      for (const [at, one] of all.entries()) {
        if (nowMs < one.dueMs) continue;
        one.dueMs = nowMs + everyMs + 1;
        const interval = Math.floor((nowMs - beganMs) / everyMs);
        isAway = interval >= away.from && interval < away.to && (at === 0 || away.alone !== true);
        const used = one.limits.takeUsage();
        await one.usage.exchange(used).then(
          (elsewhere) => one.limits.charge(elsewhere),
          (error) => expect(error).toBe(AWAY),
        );
      }
    }
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

/** Whether a call of the key passes. */
function passes(limits: RateLimits): boolean {
  try {
    limits.takeKey("build", { keyId: "key" }, new LimitNote());
    return true;
  } catch {
    return false;
  }
}

it.each([
  { processes: 2, everyMs: 1_000, intervals: 150 },
  { processes: 8, everyMs: 1_000, intervals: 150 },
  { processes: 2, everyMs: 60_000, intervals: 40 },
  { processes: 5, everyMs: 60_000, intervals: 60 },
])("$processes processes that exchange every $everyMs ms keep to one policy", async (sharing) => {
  const { processes, everyMs, intervals } = sharing;
  // One key calls all of them as often as they let it.
  let passed = 0;
  await share(sharing, (all) => {
    for (const limits of all) while (passes(limits)) passed += 1;
  });
  const portion = passed / ((PER_SECOND * intervals * everyMs) / 1_000);
  // One interval of each process in excess, before the others know of it.
  const excess = processes * (1 / intervals + (1_000 * BURST_SECONDS) / (everyMs * intervals));
  expect(portion).toBeLessThanOrEqual(1 + excess);
  expect(portion).toBeGreaterThan(0.9);
});

/**
 * The refusals of one who makes nine calls in ten steps of those of the policy, each to any of the processes.
 *
 * @param stays how likely a call goes to the same process as the one before
 */
async function refusalsWithin(sharing: Sharing, stays = 0, seed = 45): Promise<number> {
  const random = createRandom(seed);
  let [steps, refused] = [0, 0];
  let chosen: RateLimits | undefined;
  await share(sharing, (all) => {
    if (steps++ % STEPS_PER_CALL !== 0 || !random.chance(0.9)) return;
    if (chosen === undefined || !random.chance(stays)) chosen = random.pick(all);
    if (!passes(chosen)) refused += 1;
  });
  return refused;
}

it.each([
  { processes: 2, everyMs: 1_000, intervals: 150 },
  { processes: 2, everyMs: 60_000, intervals: 20 },
  { processes: 5, everyMs: 60_000, intervals: 20 },
])("$processes processes that exchange every $everyMs ms refuse nobody who keeps to the policy", async (sharing) => {
  expect(await refusalsWithin(sharing)).toBe(0);
});

it.each([
  { processes: 2, everyMs: 10_000, intervals: 20 },
  { processes: 2, everyMs: 60_000, intervals: 8 },
  { processes: 5, everyMs: 60_000, intervals: 8 },
])(
  "nor one who stays with one of $processes for a while, and then goes to another, at $everyMs ms",
  async (sharing) => {
    for (const seed of [1, 2, 3]) expect(await refusalsWithin(sharing, 0.98, seed)).toBe(0);
  },
);

it.each([
  { processes: 2, everyMs: 1_000, intervals: 150, away: { from: 40, to: 41 } },
  { processes: 2, everyMs: 1_000, intervals: 150, away: { from: 40, to: 100 } },
  { processes: 5, everyMs: 1_000, intervals: 400, away: { from: 20, to: 320 } },
])("nor do $processes whose database was away for the intervals $away.from to $away.to", async (sharing) => {
  expect(await refusalsWithin(sharing)).toBe(0);
});

it.each([
  { processes: 2, everyMs: 1_000, intervals: 150, away: { from: 40, to: 100, alone: true } },
  { processes: 5, everyMs: 1_000, intervals: 400, away: { from: 20, to: 320, alone: true } },
])("nor do $processes of which one alone was cut off from $away.from to $away.to", async (sharing) => {
  expect(await refusalsWithin(sharing)).toBe(0);
});
