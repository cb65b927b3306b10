import { expect, test } from "vitest";
import { MAX_COMPUTE_UNITS, priorityFeeLamports } from "./compute-budget.ts";

test.each([
  [0, 5n, 0n],
  [100_000, 0n, 0n],
  [1, 1n, 1n],
  [999_999, 1n, 1n],
  [1_000_000, 1n, 1n],
  [1_000_001, 1n, 2n],
  [75_321, 54_321n, 4_092n],
  [MAX_COMPUTE_UNITS, (1n << 64n) - 1n, 25_825_441_703_193_372_261n],
])("%i units at %i micro-lamports cost %i lamports: a part of one counts as one", (units, price, lamports) => {
  expect(priorityFeeLamports(units, price)).toBe(lamports);
});
