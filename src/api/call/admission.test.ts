import { setImmediate as nextTurn } from "node:timers/promises";
import { beforeEach, expect, it } from "vitest";
import { inNextPass } from "../../primitives/turns/pass.ts";
import { Admission } from "./admission.ts";

const SETTINGS = { buildsAtOnce: 1_000, submitsAtOnce: 2, buildTurnMs: 4, buildWaitMs: 20 };

let nowMs: number;
let admission: Admission;
/** Finished builds, in order. */
let made: number[];
beforeEach(() => {
  nowMs = 1_000;
  admission = new Admission(SETTINGS, () => nowMs);
  made = [];
});

/** A build that takes a millisecond once started. */
const build = async (name: number): Promise<void> => {
  const turn = admission.enter("build");
  if (turn !== undefined) await turn;
  nowMs++;
  made.push(name);
  admission.leave("build");
};

it("runs builds at once within the time slice and the rest in the following turns, first come first served", async () => {
  const builds = Array.from({ length: 11 }, (_, i) => build(i));
  expect(made).toEqual([0, 1, 2, 3]);
  expect(admission.state()).toMatchObject({ builds: 7, shed: 0 });
  await nextTurn();
  expect(made).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  await nextTurn();
  expect(made).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  await Promise.all(builds);
  expect(admission.state()).toEqual({ builds: 0, submits: 0, shed: 0 });
});

it("queues later builds behind those that wait", async () => {
  const builds = Array.from({ length: 9 }, (_, i) => build(i));
  await nextTurn();
  expect(made.length).toBe(8);
  builds.push(build(9));
  expect(made.length).toBe(8);
  await Promise.all(builds);
  expect(made).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

it("lets calls that were read meanwhile go before the builds that wait", async () => {
  const builds = Array.from({ length: 7 }, (_, i) => build(i));
  inNextPass({}, () => made.push(-1));
  await Promise.all(builds);
  expect(made).toEqual([0, 1, 2, 3, -1, 4, 5, 6]);
});

it("runs no second slice after builds that were read meanwhile", async () => {
  const builds = [build(0)];
  inNextPass({}, () => {
    for (let i = 1; i <= 6; i++) builds.push(build(i));
  });
  await nextTurn();
  expect(made).toEqual([0, 1, 2, 3, 4]);
  await nextTurn();
  await Promise.all(builds);
  expect(made).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

it("refuses builds that would wait too long and admits them again once the queue is shorter", async () => {
  // The pace of the queue is known once it has moved.
  await Promise.all(Array.from({ length: 100 }, (_, i) => build(i)));
  const builds = Array.from({ length: 60 }, (_, i) => build(i).catch((error) => error.code));
  expect(admission.state().builds).toBeLessThanOrEqual(SETTINGS.buildWaitMs + 2);
  expect(admission.state().shed).toBeGreaterThan(30);
  expect(() => admission.enter("build")).toThrow(expect.objectContaining({ code: "OVERLOADED" }));
  const outcomes = await Promise.all(builds);
  expect(outcomes.filter((code) => code === undefined).length).toBeGreaterThan(20);
  expect(admission.enter("build")).toBeUndefined();
});

it("admits submits regardless of builds, up to their own limit", async () => {
  const builds = Array.from({ length: 30 }, (_, i) => build(i));
  expect(admission.enter("submit")).toBeUndefined();
  expect(admission.enter("submit")).toBeUndefined();
  expect(() => admission.enter("submit")).toThrow(expect.objectContaining({ code: "OVERLOADED" }));
  await Promise.all(builds);
});

it("admits a build whose refusal is still pending once the queue is empty", async () => {
  await Promise.all(Array.from({ length: 100 }, (_, i) => build(i)));
  const builds = Array.from({ length: 40 }, (_, i) => build(i).catch(() => {}));
  for (let i = 0; i < 300; i++) admission.refusals.next("", undefined);
  made = [];
  const late = build(1_000);
  expect(admission.state().builds).toBeGreaterThan(8);
  await late;
  expect(made.at(-1)).toBe(1_000);
  await Promise.all(builds);
  expect(admission.state().builds).toBe(0);
});

it("starts queued builds even if a build never ends", async () => {
  const never = Array.from({ length: 6 }, async () => {
    const turn = admission.enter("build");
    if (turn !== undefined) await turn;
    nowMs += 2;
    made.push(-1);
    await new Promise(() => {});
  });
  expect(never.length).toBe(6);
  void build(1);
  for (let turns = 0; turns < 4; turns++) await nextTurn();
  expect(made).toEqual([-1, -1, -1, -1, -1, -1, 1]);
});
