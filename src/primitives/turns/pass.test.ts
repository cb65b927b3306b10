import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { closePass, inNextPass, inStep, openPass, runPasses, type Step } from "./pass.ts";

let done: string[] = [];

const caller = {};
const doAt = (step: Step, work: () => void) => inStep(step, { serve: work, answer: work, write: work });
/** A call that notes its steps. */
const call = (name: string, from = caller) =>
  inNextPass(from, () => {
    done.push(`${name} enters`);
    doAt("serve", () => {
      done.push(`${name} is served`);
      doAt("answer", () => {
        done.push(`${name} is answered`);
        doAt("write", () => done.push(`${name} is written`));
      });
    });
  });

beforeEach(async () => {
  // No time passes but what a test lets pass, however busy the machine is.
  vi.useFakeTimers({ toFake: ["performance"] });
  // What calls took before is forgotten.
  for (let i = 0; i < 60; i++) {
    call("a quick one");
    await nextTurn();
  }
  done = [];
});
afterEach(() => void vi.useRealTimers());

it("does each step for all calls of a turn before the next step", async () => {
  call("a");
  call("b");
  expect(done).toEqual([]);
  await nextTurn();
  expect(done).toEqual([
    "a enters",
    "b enters",
    "a is served",
    "b is served",
    "a is answered",
    "b is answered",
    "a is written",
    "b is written",
  ]);
});

it("answers at most sixteen calls before the next ones enter, all of them in one turn", async () => {
  for (let i = 0; i < 40; i++) call(`${i}`);
  await nextTurn();
  expect(done).toHaveLength(160);
  const at = (text: string) => done.indexOf(text);
  expect(at("15 is written")).toBeLessThan(at("16 enters"));
  expect(at("15 enters")).toBeLessThan(at("0 is served"));
  expect(at("31 is written")).toBeLessThan(at("32 enters"));
});

it("makes passes of slow calls short", async () => {
  const slow = (name: string) =>
    inNextPass(caller, () => {
      done.push(`${name} enters`);
      doAt("serve", () => {
        vi.advanceTimersByTime(3);
        done.push(`${name} is served`);
      });
    });
  slow("a");
  await nextTurn();
  done = [];
  slow("b");
  slow("c");
  await nextTurn();
  expect(done).toEqual(["b enters", "b is served", "c enters", "c is served"]);
});

/** A call that takes a millisecond to enter. */
const longCall = (name: string, from = caller) =>
  inNextPass(from, () => {
    vi.advanceTimersByTime(1);
    done.push(name);
  });

it("leaves calls for which a turn has no time to the next ones, in their order", async () => {
  for (let i = 0; i < 12; i++) longCall(`${i}`);
  const counts: number[] = [];
  while (done.length < 12) {
    await nextTurn();
    counts.push(done.length);
  }
  expect(counts).toEqual([5, 10, 12]);
  expect(done).toEqual(Array.from({ length: 12 }, (_, i) => `${i}`));
});

it("serves callers in turn, also those that come while many calls of another wait", async () => {
  const [early, late] = [{}, {}];
  for (let i = 0; i < 100; i++) longCall(`${i}`);
  longCall("early", early);
  longCall("its second", early);
  await nextTurn();
  expect(done).toEqual(["0", "early", "1", "its second", "2"]);
  longCall("late", late);
  await nextTurn();
  expect(done.slice(5)).toEqual(["3", "late", "4", "5", "6"]);
  while (done.length < 103) await nextTurn();
  expect(done.slice(-2)).toEqual(["98", "99"]);
});

it("spends its time only once in a turn, even if passes are run twice in it", async () => {
  for (let i = 0; i < 12; i++) longCall(`${i}`);
  runPasses();
  expect(done).toHaveLength(5);
  await nextTurn();
  expect(done).toHaveLength(10);
  await nextTurn();
  expect(done).toHaveLength(12);
});

it("takes calls that come during a pass into one of the next turn", async () => {
  inNextPass(caller, () => {
    done.push("first");
    call("second");
    doAt("serve", () => done.push("first is served"));
  });
  await nextTurn();
  expect(done).toEqual(["first", "first is served"]);
  await nextTurn();
  expect(done.at(-1)).toBe("second is written");
});

it("does a step at once outside of a pass", () => {
  doAt("write", () => done.push("written"));
  doAt("serve", () => done.push("served"));
  expect(done).toEqual(["written", "served"]);
});

it("waits in a pass that is opened by hand until that is closed, whatever comes first", () => {
  openPass();
  doAt("write", () => done.push("written"));
  doAt("answer", () => doAt("serve", () => done.push("served late")));
  doAt("serve", () => done.push("served"));
  expect(done).toEqual([]);
  closePass();
  expect(done).toEqual(["served", "served late", "written"]);
  doAt("serve", () => done.push("after it"));
  expect(done.at(-1)).toBe("after it");
});

it("lets no call's fault reach another call", async () => {
  const thrown = vi.fn();
  process.once("uncaughtException", thrown);
  const listeners = process.listeners("uncaughtException").filter((listener) => listener !== thrown);
  for (const listener of listeners) process.off("uncaughtException", listener);
  inNextPass(caller, () => {
    throw new Error("its own");
  });
  call("other");
  await nextTurn();
  await nextTurn();
  for (const listener of listeners) process.on("uncaughtException", listener);
  expect(done).toHaveLength(4);
  expect(thrown).toHaveBeenCalledOnce();
});
