import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { GradualSweep } from "./gradual-sweep.ts";

interface Item {
  readonly id: number;
  lastUsedMs: number;
  isBusy?: boolean;
}

const sweep = new GradualSweep();
let items: Map<number, Item>;
/** How many were dropped in each turn of the loop that dropped any. */
let turns: number[];

beforeEach(() => {
  vi.useFakeTimers();
  turns = [];
});
afterEach(() => {
  sweep.close();
  vi.useRealTimers();
});

function fill(count: number, lastUsedMs: (id: number) => number): void {
  items = new Map(Array.from({ length: count }, (_, id) => [id, { id, lastUsedMs: lastUsedMs(id) }]));
}

function begin({ limit = Number.POSITIVE_INFINITY, sinceMs = 0 }): void {
  sweep.begin<Item>({
    items: items.values(),
    size: items.size,
    state: ({ isBusy, lastUsedMs }) => (isBusy === true ? "busy" : lastUsedMs < sinceMs ? "unused" : "used"),
    lastUsedMs: ({ lastUsedMs }) => lastUsedMs,
    drop(dropped) {
      turns.push(dropped.length);
      for (const { id } of dropped) items.delete(id);
    },
    limit,
  });
}

test("a few unused items go at once", () => {
  fill(10, (id) => id);
  items.get(1)!.isBusy = true;
  begin({ sinceMs: 3 });
  expect([...items.keys()]).toEqual([1, 3, 4, 5, 6, 7, 8, 9]);
  expect(vi.getTimerCount()).toBe(0);
});

test("above the limit exactly the longest unused go, in whatever order they stand", () => {
  fill(100, (id) => (id * 37) % 100);
  begin({ limit: 90 });
  expect(items.size).toBe(90);
  expect(Math.min(...[...items.values()].map(({ lastUsedMs }) => lastUsedMs))).toBe(10);
  fill(10, () => 5);
  begin({ limit: 4 });
  expect(items.size).toBe(4);
});

test("a hundred thousand items take turns with other work, and few are dropped in one", () => {
  fill(100_000, (id) => id);
  begin({ sinceMs: 50_000, limit: 30_000 });
  expect(items.size).toBeGreaterThan(99_000);
  // A sweep that is due meanwhile waits for the next time.
  begin({ sinceMs: 100_000 });
  let looked = 0;
  for (; vi.getTimerCount() > 0; looked++) vi.advanceTimersToNextTimer();
  expect(looked).toBeGreaterThan(100);
  expect(items.size).toBe(30_000);
  expect(Math.min(...items.keys())).toBe(70_000);
  expect(Math.max(...turns)).toBeLessThanOrEqual(200);
});

test("an item used again before its turn comes stays", () => {
  fill(20_000, () => 1);
  begin({ sinceMs: 2 });
  const { size } = items;
  for (const item of items.values()) item.lastUsedMs = 9;
  while (vi.getTimerCount() > 0) vi.advanceTimersToNextTimer();
  expect(items.size).toBe(size);
  expect(size).toBeGreaterThan(19_000);
});

test("nothing happens after it is closed", () => {
  fill(100_000, () => 1);
  begin({ sinceMs: 2 });
  const { size } = items;
  sweep.close();
  expect(vi.getTimerCount()).toBe(0);
  expect(items.size).toBe(size);
});
