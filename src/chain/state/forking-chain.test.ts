import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { simulate } from "../../../test/support/forking-chain/simulation.ts";

/** Over so many chains, those in which accounts can seldom be used, because nodes are away, weigh little. */
const MANY_RUNS = 25;
const RUNS = Number(process.env.RUNS ?? (process.env.EXHAUSTIVE === "1" ? 3_000 : MANY_RUNS));
const FIRST_SEED = Number(process.env.SEED ?? 1);

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

/**
 * Each seed draws a chain that forks and nodes that fail: skipped and dead slots, leaders that are absent, replaced banks, cuts, stalls, nodes
 * that are down, late, or start again from an older block, a second machine behind one address, that is behind; what a Yellowstone server
 * repeats; accounts that come back to what they held, are closed, or become another program's; a wall clock that is set. All that is served
 * as current is compared with what the chain held, and no honest node may be set aside.
 */
test("through forks, cuts and failing nodes, accounts are served as the chain had them when they are said to be current", async () => {
  const wrong: string[] = [];
  let looks = 0;
  let usable = 0;
  for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed++) {
    const result = await simulate({ seed });
    looks += result.looks;
    usable += result.usable;
    wrong.push(...result.wrong.map((line) => `seed ${seed}: ${line}`));
  }
  expect(wrong).toEqual([]);
  // To serve nothing would be right too.
  if (RUNS >= MANY_RUNS) expect(usable / looks).toBeGreaterThan(0.7);
});
