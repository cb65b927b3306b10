import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { GradualWork } from "./gradual-work.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

test("few items are done at once, many in turns of the loop, each once", () => {
  const done: number[] = [];
  const work = new GradualWork<number>((item) => void done.push(item), 100);
  work.add(range(0, 100));
  expect(done).toHaveLength(100);
  expect(vi.getTimerCount()).toBe(0);
  work.add(range(100, 350));
  expect(done).toHaveLength(200);
  // What comes while others wait does not get a turn of its own.
  work.add(range(350, 360));
  expect(done).toHaveLength(200);
  vi.advanceTimersToNextTimer();
  expect(done).toHaveLength(300);
  vi.runAllTimers();
  expect(done.toSorted((a, b) => a - b)).toEqual(range(0, 360));
});

test("items that the work itself adds are done too, and nothing after it is cleared", () => {
  const done: number[] = [];
  const work = new GradualWork<number>((item) => {
    done.push(item);
    if (item > 0) work.add([item - 1]);
  }, 10);
  work.add([3]);
  vi.runAllTimers();
  expect(done).toEqual([3, 2, 1, 0]);
  work.add(range(0, 0).concat(Array(50).fill(0)));
  work.clear();
  vi.runAllTimers();
  expect(done).toHaveLength(14);
});

test("a list stays as it is, and what is added to it meanwhile is left out", () => {
  const done: number[] = [];
  const work = new GradualWork<number>((item) => void done.push(item), 10);
  const items = range(0, 25);
  work.add(items);
  items.push(25);
  vi.runAllTimers();
  expect(done.toSorted((a, b) => a - b)).toEqual(range(0, 25));
  expect(items).toEqual(range(0, 26));
});
