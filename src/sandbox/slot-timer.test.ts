import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type SlotTimer, startSlotTimer } from "./slot-timer.ts";

const SLOT_MS = 200;
let timer: SlotTimer;
/** When slots passed, and how long the next one keeps its process busy. Milliseconds. */
let slots: number[];
let busyMs: number;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
  slots = [];
  busyMs = 0;
  const startedMs = performance.now();
  timer = startSlotTimer(() => {
    slots.push(performance.now() - startedMs);
    vi.advanceTimersByTime(busyMs);
    busyMs = 0;
  }, SLOT_MS);
});

afterEach(() => {
  timer.stop();
  vi.useRealTimers();
});

test("a slot that passes late is followed in time", () => {
  busyMs = 350;
  vi.advanceTimersByTime(650);
  expect(slots).toEqual([200, 550, 600, 800, 1_000]);
});

test.each([700, 1_900, 60_000])("after %i ms of a standstill, slots pass at their pace", (standstillMs) => {
  busyMs = standstillMs;
  vi.advanceTimersByTime(200);
  vi.advanceTimersByTime(600);
  const endMs = 200 + standstillMs;
  expect(slots).toEqual([200, endMs + 200, endMs + 400, endMs + 600]);
});

test("a wall clock that is set changes nothing", () => {
  vi.advanceTimersByTime(400);
  vi.setSystemTime(Date.now() - 3_600_000);
  vi.advanceTimersByTime(400);
  vi.setSystemTime(Date.now() + 7_200_000);
  vi.advanceTimersByTime(400);
  expect(slots).toEqual([200, 400, 600, 800, 1_000, 1_200]);
});
