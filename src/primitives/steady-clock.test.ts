import { expect, test } from "vitest";
import { steadyClock } from "./clock.ts";

test("steps forward are followed, steps back are not, and small ones change nothing", () => {
  let [wall, elapsed] = [1_000_000, 5];
  const steady = steadyClock(
    () => wall,
    () => elapsed,
  );
  const pass = (wallMs: number, elapsedMs: number) => {
    wall += wallMs;
    elapsed += elapsedMs;
    return steady() - 1_000_000;
  };
  expect(pass(10, 10)).toBe(10);
  // An hour's suspension, which the monotonic clock does not count.
  expect(pass(3_600_000, 0)).toBe(3_600_010);
  // Set back by an hour, then time goes on.
  expect(pass(-3_600_000, 10)).toBe(3_600_020);
  expect(pass(100, 100)).toBe(3_600_120);
  expect(pass(1_000, 100)).toBe(3_601_120);
});

test("a wall clock of whole milliseconds does not make it fast or unsteady", () => {
  let elapsed = 0;
  const steady = steadyClock(
    () => Math.floor(elapsed),
    () => elapsed,
  );
  let last = 0;
  for (elapsed = 0; elapsed < 1_000; elapsed += 0.3) {
    const atMs = steady();
    expect(atMs).toBeGreaterThanOrEqual(last);
    last = atMs;
  }
  expect(last).toBeCloseTo(elapsed, -1);
});
