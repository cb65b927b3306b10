import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { EndsElsewhere } from "./outcome-poll.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A database in which ends are written down, and how many it was asked for each time. */
function createEnds() {
  const written = new Set<string>();
  const asked: number[] = [];
  return {
    written,
    asked,
    isAway: false,
    async endedAmong(messageHashes: readonly string[]) {
      asked.push(messageHashes.length);
      if (this.isAway) throw new Error("away");
      return messageHashes.filter((messageHash) => written.has(messageHash));
    },
  };
}

it("hears of every end with one look for all who wait, and looks no more when nobody does", async () => {
  const ends = createEnds();
  const elsewhere = new EndsElsewhere(ends);
  const heard: string[] = [];
  for (const name of ["a", "b", "c"]) void elsewhere.ended(name).then(() => heard.push(name));
  await vi.advanceTimersByTimeAsync(20);
  expect(heard).toEqual([]);
  expect(new Set(ends.asked)).toEqual(new Set([3]));
  ends.written.add("b");
  await vi.advanceTimersByTimeAsync(10);
  expect(heard).toEqual(["b"]);
  for (const name of ["a", "b", "c"]) elsewhere.forget(name);
  const { length } = ends.asked;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(ends.asked).toHaveLength(length);
});

it("asks for a bounded number at a time, and for everybody in turn", async () => {
  const ends = createEnds();
  const elsewhere = new EndsElsewhere(ends);
  const last = vi.fn();
  for (let i = 0; i < 1_000; i++) void elsewhere.ended(`message ${i}`).then(i === 999 ? last : undefined);
  ends.written.add("message 999");
  await vi.advanceTimersByTimeAsync(50);
  expect(last).toHaveBeenCalled();
  expect(Math.max(...ends.asked)).toBe(256);
  for (let i = 0; i < 1_000; i++) elsewhere.forget(`message ${i}`);
});

it("goes on when the database comes back", async () => {
  const ends = createEnds();
  const elsewhere = new EndsElsewhere(ends);
  const heard = vi.fn();
  void elsewhere.ended("a").then(heard);
  ends.isAway = true;
  ends.written.add("a");
  await vi.advanceTimersByTimeAsync(50);
  expect(heard).not.toHaveBeenCalled();
  ends.isAway = false;
  await vi.advanceTimersByTimeAsync(10);
  expect(heard).toHaveBeenCalled();
  elsewhere.forget("a");
});
