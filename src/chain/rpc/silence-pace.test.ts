import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SilencePace } from "./silence-pace.ts";

let pace: SilencePace;
/** Calls in the order in which they ended, with how. */
let ended: string[];
let calls: number;

beforeEach(() => {
  vi.useFakeTimers();
  pace = new SilencePace(Date.now);
  [ended, calls] = [[], 0];
});
afterEach(() => {
  vi.useRealTimers();
});

const call = (timeoutMs = 4_000) => {
  const name = calls++;
  void pace.turn(timeoutMs).then((isSent) => ended.push(`${name} ${isSent ? "sent" : "late"}`));
};
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test("it is on a second after the first call that got no answer, and off with an answer", async () => {
  await pass(60_000);
  expect(pace.isOn()).toBe(false);
  pace.noteSent();
  await pass(600);
  pace.noteSent();
  await pass(400);
  expect(pace.isOn()).toBe(false);
  await pass(1);
  expect(pace.isOn()).toBe(true);
  pace.noteAnswered();
  expect(pace.isOn()).toBe(false);
  await pass(60_000);
  pace.noteSent();
  expect(pace.isOn()).toBe(false);
});

test("one call in each pause is sent, the newest first; the others wait no longer than their time", async () => {
  for (let i = 0; i < 4; i++) call(i === 3 ? 4_000 : 1_000);
  await pass(399);
  expect(ended).toEqual(["0 sent"]);
  await pass(1);
  expect(ended).toEqual(["0 sent", "3 sent"]);
  await pass(400);
  expect(ended).toEqual(["0 sent", "3 sent", "2 sent"]);
  await pass(200);
  expect(ended).toEqual(["0 sent", "3 sent", "2 sent", "1 late"]);
  // After a pause without calls the next one is sent at once.
  await pass(400);
  call();
  await pass(0);
  expect(ended.at(-1)).toBe("4 sent");
  expect(vi.getTimerCount()).toBe(0);
});

test("an answer lets everything go that still waits", async () => {
  for (let i = 0; i < 5; i++) call(i === 1 ? 100 : 4_000);
  await pass(100);
  pace.noteAnswered();
  await pass(0);
  expect(ended).toEqual(["0 sent", "1 late", "2 sent", "3 sent", "4 sent"]);
  expect(vi.getTimerCount()).toBe(0);
});
