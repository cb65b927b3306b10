import { expect, test } from "vitest";
import { countFromFirst } from "./since-start.ts";

test("times since the start are small, whole, and in order, rounded down", () => {
  const since = countFromFirst();
  const first = 1_800_000_000_000.25;
  expect([0, 0.5, 0.9, 1, 1.5, 60_000].map((after) => since(first + after))).toEqual([0, 0, 0, 1, 1, 60_000]);
  expect([-0.25, -1, -1.5].map((before) => since(first + before))).toEqual([-1, -1, -2]);
});
