import { expect, test, vi } from "vitest";

test("times since the start are small, whole, and in order, rounded down", async () => {
  // What other tests of the process have asked about first.
  vi.resetModules();
  const { sinceStart } = await import("./since-start.ts");
  const first = 1_800_000_000_000.25;
  expect([0, 0.5, 0.9, 1, 1.5, 60_000].map((after) => sinceStart(first + after))).toEqual([0, 0, 0, 1, 1, 60_000]);
  expect([-0.25, -1, -1.5].map((before) => sinceStart(first + before))).toEqual([-1, -1, -2]);
});
