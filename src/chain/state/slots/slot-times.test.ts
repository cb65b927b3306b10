import { expect, test } from "vitest";
import { SlotTimes } from "./slot-times.ts";

test("a slot is the newest until any source reports a later one", () => {
  const times = new SlotTimes();
  expect(times.newest).toBe(0n);
  expect(times.passedAtMs(5n)).toBe(Number.POSITIVE_INFINITY);
  times.note(10n, 1_000);
  times.note(13n, 1_300);
  times.note(12n, 1_400);
  times.note(14n, 1_500);
  expect(times.newest).toBe(14n);
  expect([999, 1_000, 1_499, 1_500].map((atMs) => times.newestBy(atMs))).toEqual([0n, 10n, 13n, 14n]);
  expect(times.passedAtMs(9n)).toBe(1_000);
  expect(times.passedAtMs(10n)).toBe(1_300);
  expect(times.passedAtMs(12n)).toBe(1_300);
  expect(times.passedAtMs(13n)).toBe(1_500);
  expect(times.passedAtMs(14n)).toBe(Number.POSITIVE_INFINITY);
});

test("only the latest slots are kept", () => {
  const times = new SlotTimes();
  for (let slot = 1; slot <= 1_000; slot++) times.note(BigInt(slot), slot * 80);
  expect(times.passedAtMs(990n)).toBe(991 * 80);
  // Older than all remembered: no later than it was.
  expect(times.passedAtMs(3n)).toBeGreaterThan(4 * 80);
  expect(times.passedAtMs(3n)).toBeLessThan(990 * 80 - 9_000);
});

test("slots that are taken back are forgotten, and the last that exists counts from the first of them", () => {
  const times = new SlotTimes();
  times.note(10n, 1_000);
  times.note(200n, 1_100);
  times.note(210n, 1_200);
  times.takeBackTo(12n);
  expect(times.newest).toBe(12n);
  expect(times.passedAtMs(10n)).toBe(1_100);
  expect(times.passedAtMs(12n)).toBe(Number.POSITIVE_INFINITY);
  times.takeBackTo(12n);
  times.note(13n, 1_500);
  expect(times.passedAtMs(12n)).toBe(1_500);
});
