import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { OneATurn } from "./one-a-turn.ts";
import { inNextPass } from "./pass.ts";

// No piece is late but where a test lets it be, however busy the machine is.
beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

it("gives each its own turn, in the order of the calls", async () => {
  const turns = new OneATurn();
  const done: number[] = [];
  for (let i = 0; i < 3; i++) void turns.next().then(() => done.push(i));
  await Promise.resolve();
  expect(done).toEqual([]);
  for (let i = 0; i < 3; i++) {
    await nextTurn();
    expect(done).toEqual([0, 1, 2].slice(0, i + 1));
  }
});

it("goes on with what comes meanwhile, and begins again after a rest", async () => {
  const turns = new OneATurn();
  const done: string[] = [];
  void turns.next().then(() => {
    done.push("first");
    void turns.next().then(() => done.push("third"));
  });
  void turns.next().then(() => done.push("second"));
  for (let i = 0; i < 4; i++) await nextTurn();
  expect(done).toEqual(["first", "second", "third"]);
  await turns.next();
});

it("serves the calls of a turn first, and leaves the turn to them three times in a row", async () => {
  const turns = new OneATurn();
  const done: string[] = [];
  const pieces = Promise.all([1, 2].map((i) => turns.next().then(() => done.push(`piece ${i}`))));
  for (let i = 0; i < 5; i++) {
    inNextPass({}, () => done.push(`call ${i}`));
    await nextTurn();
  }
  expect(done).toEqual(["call 0", "call 1", "call 2", "call 3", "piece 1", "call 4"]);
  await pieces;
  expect(done).toHaveLength(7);
});

it("gives late pieces turns that they share, calls or not", async () => {
  const turns = new OneATurn();
  let done = 0;
  for (let i = 0; i < 20; i++) void turns.next().then(() => done++);
  vi.advanceTimersByTime(60);
  inNextPass({}, () => {});
  await nextTurn();
  expect(done).toBe(8);
  await nextTurn();
  expect(done).toBe(16);
  await nextTurn();
  expect(done).toBe(20);
});

it("goes on after a piece that throws, whose error is an uncaught exception", async () => {
  const turns = new OneATurn();
  const uncaught = vi.fn();
  const others = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException").once("uncaughtException", uncaught);
  try {
    turns.run(() => {
      throw new Error("a fault");
    });
    await turns.next();
    expect(uncaught).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ message: "a fault" }),
      expect.anything(),
    );
  } finally {
    for (const other of others) process.on("uncaughtException", other);
  }
});
