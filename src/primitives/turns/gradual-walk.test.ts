import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { GradualWalk } from "./gradual-walk.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("few items are visited at once, many in turns of the loop, each once", () => {
  const items = new Set(Array.from({ length: 50 }, (_, i) => i));
  const visited: number[] = [];
  const walk = new GradualWalk<number>(
    () => items,
    (item) => void visited.push(item),
    100,
  );
  walk.begin();
  expect(visited).toHaveLength(50);
  expect(walk.isGoing).toBe(false);
  expect(vi.getTimerCount()).toBe(0);
  for (let i = 50; i < 250; i++) items.add(i);
  visited.length = 0;
  walk.begin();
  expect(visited).toHaveLength(100);
  vi.advanceTimersToNextTimer();
  expect(visited).toHaveLength(200);
  vi.runAllTimers();
  expect(visited).toEqual([...items]);
  expect(walk.isGoing).toBe(false);
});

test("a walk that is begun during another visits everything once more, and nothing after it is cleared", () => {
  const items = Array.from({ length: 25 }, (_, i) => i);
  const visited: number[] = [];
  const walk = new GradualWalk<number>(
    () => items,
    (item) => void visited.push(item),
    10,
  );
  walk.begin();
  for (let i = 0; i < 3; i++) walk.begin();
  vi.runAllTimers();
  expect(visited).toEqual([...items, ...items]);
  walk.begin();
  walk.clear();
  vi.runAllTimers();
  expect(visited).toHaveLength(60);
});
