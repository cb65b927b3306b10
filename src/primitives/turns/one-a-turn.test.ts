import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { OneATurn } from "./one-a-turn.ts";

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
