import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { runLies } from "./lied-trade.ts";

const CASES = Number(process.env.CASES ?? 200);
const SEED = Number(process.env.SEED ?? 1);
/** Part of the trades that may stay pending over three nodes: honest ones start again with a short history. */
const MOST_PENDING = 0.1;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each([2, 3])("one of %i nodes that tells false stories has nothing false said of a trade", async (nodes) => {
  let pending = 0;
  for (let i = 0; i < CASES; i++) {
    const seed = SEED * 1_000_000 + i;
    const { faults, isDecided } = await runLies(seed, nodes);
    expect([seed, ...faults]).toEqual([seed]);
    if (!isDecided) pending += 1;
  }
  // Of two that contradict each other neither is believed.
  if (nodes > 2) expect(pending / CASES).toBeLessThan(MOST_PENDING);
});
