import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { OutcomePoll } from "./outcome-poll.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A database of written outcomes that notes the size of every query. */
function createOutcomes() {
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

it("asks once for all waiters, and stops when there are none", async () => {
  const outcomes = createOutcomes();
  const poll = new OutcomePoll(outcomes);
  const seen: string[] = [];
  for (const name of ["a", "b", "c"]) void poll.outcomeWritten(name).then(() => seen.push(name));
  await vi.advanceTimersByTimeAsync(20);
  expect(seen).toEqual([]);
  expect(new Set(outcomes.asked)).toEqual(new Set([3]));
  outcomes.written.add("b");
  await vi.advanceTimersByTimeAsync(10);
  expect(seen).toEqual(["b"]);
  for (const name of ["a", "b", "c"]) poll.forget(name);
  const { length } = outcomes.asked;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(outcomes.asked).toHaveLength(length);
});

it("asks for a bounded number at a time, in turns", async () => {
  const outcomes = createOutcomes();
  const poll = new OutcomePoll(outcomes);
  const last = vi.fn();
  for (let i = 0; i < 1_000; i++) void poll.outcomeWritten(`message ${i}`).then(i === 999 ? last : undefined);
  outcomes.written.add("message 999");
  await vi.advanceTimersByTimeAsync(50);
  expect(last).toHaveBeenCalled();
  expect(Math.max(...outcomes.asked)).toBe(256);
  for (let i = 0; i < 1_000; i++) poll.forget(`message ${i}`);
});

it("continues when the database is back", async () => {
  const outcomes = createOutcomes();
  const poll = new OutcomePoll(outcomes);
  const seen = vi.fn();
  void poll.outcomeWritten("a").then(seen);
  outcomes.isAway = true;
  outcomes.written.add("a");
  await vi.advanceTimersByTimeAsync(50);
  expect(seen).not.toHaveBeenCalled();
  outcomes.isAway = false;
  await vi.advanceTimersByTimeAsync(10);
  expect(seen).toHaveBeenCalled();
  poll.forget("a");
});
