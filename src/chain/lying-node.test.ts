import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startLyingNodeWorld } from "../../test/support/lying-node-world.ts";
import { isWhole } from "../../test/support/whole.ts";

const SEEDS = isWhole ? 40 : 6;
const SHARE = 0.3;
const SAMPLE_MS = 20;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each([
  [80, 0],
  [80, 1],
  [400, 0],
  [400, 2],
])(
  "with slots of %i ms, one of three nodes (place %i) that lies in any field refuses fewer than one build in a hundred",
  async (slotMs, liar) => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const world = await startLyingNodeWorld({ nodes: 3, slotMs });
      const why = new Map<string, number>();
      let samples = 0;
      world.lie(liar, { seed, share: SHARE });
      for (let ms = 0; ms < 100 * slotMs; ms += SAMPLE_MS) {
        const refusal = world.refusal();
        samples += 1;
        if (refusal !== undefined) why.set(refusal, (why.get(refusal) ?? 0) + 1);
        await vi.advanceTimersByTimeAsync(SAMPLE_MS);
      }
      const refused = [...why.values()].reduce((sum, count) => sum + count, 0);
      expect([seed, refused / samples < 0.01 || Object.fromEntries(why)]).toEqual([seed, true]);
      world.close();
    }
  },
);
