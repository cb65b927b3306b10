import { expect, test } from "vitest";
import type { CheckOrder } from "../protocol.ts";
import { ShadowEngine } from "./shadow-engine.ts";

const NOBODY = new Uint8Array(32).fill(1);
const COST_MS = 30;
const order = (isRoutine: boolean): CheckOrder => ({
  kind: "check",
  venue: "none",
  market: NOBODY,
  pair: [NOBODY, NOBODY],
  accounts: [],
  missing: [],
  programs: [],
  clock: { slot: 1n, epoch: 0n, unixTimestamp: 0n },
  rentLamportsPerByte: 1n,
  turn: 1,
  isRoutine,
});

/** An engine each of whose checks takes 30 ms of processor time. */
function engineOf(cpuPercent: number) {
  let nowMs = 0;
  let usedMs = 0;
  let reads = 0;
  // Read before and after each check.
  const cpuMs = () => {
    if (reads++ % 2 === 1) usedMs += COST_MS;
    return usedMs;
  };
  const engine = new ShadowEngine({ venues: [], cpuMs, nowMs: () => nowMs, cpuPercent });
  const check = (isRoutine: boolean) => engine.perform(order(isRoutine)).kind !== "busy";
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { check, pass, usedMs: () => usedMs };
}

test("routine checks keep to their share of a core, however often they are ordered", () => {
  for (const percent of [1, 2, 10]) {
    const { check, pass, usedMs } = engineOf(percent);
    const seconds = 3_600;
    for (let tenth = 0; tenth < seconds * 10; tenth++) {
      check(true);
      pass(100);
    }
    const share = (100 * usedMs()) / (seconds * 1_000);
    // One check may pass the budget, and ten seconds' worth is there from the start.
    expect(share).toBeLessThanOrEqual(percent * (1 + 11 / seconds) + 0.01);
    expect(share).toBeGreaterThan(percent * 0.9);
  }
});

test("a check for a reason is made without budget, and routine ones pay for it", () => {
  const { check, pass } = engineOf(2);
  for (let index = 0; index < 20; index++) expect(check(false)).toBe(true);
  // 600 ms of which 200 were there: 400 are earned in 20 s.
  pass(19_900);
  expect(check(true)).toBe(false);
  pass(200);
  expect(check(true)).toBe(true);
});

test("without a share, no routine check is made", () => {
  const { check, pass } = engineOf(0);
  pass(3_600_000);
  expect([check(true), check(false)]).toEqual([false, true]);
});
