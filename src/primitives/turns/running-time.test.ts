import { expect, test } from "vitest";
import { RunningTime } from "./running-time.ts";

test("time counts up to a bound between two turns, and never backwards", () => {
  let clockMs = 1_000;
  const time = new RunningTime(() => clockMs, 150);
  const after = (ms: number) => {
    clockMs += ms;
    return time.now();
  };
  expect([after(0), after(100), after(50), after(1)]).toEqual([1_000, 1_100, 1_150, 1_150]);
  time.turn();
  expect(after(100)).toBe(1_250);
  time.turn();
  expect([after(-5_000), after(5_020)]).toEqual([1_250, 1_270]);
});
