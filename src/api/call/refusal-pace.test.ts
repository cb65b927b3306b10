import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { RefusalPace } from "./refusal-pace.ts";

it("sends a burst of refusals at once and the rest at its pace", async () => {
  let nowMs = 1_000;
  const pace = new RefusalPace(() => nowMs);
  for (let i = 0; i < 300; i++) expect(pace.next("", undefined)).toBeUndefined();
  let answered = 0;
  for (let i = 0; i < 60; i++) void pace.next("", undefined)?.then(() => answered++);
  await sleep(10);
  expect(answered).toBe(0);
  // Three per millisecond.
  nowMs += 10.1;
  await expect.poll(() => answered).toBe(30);
  pace.release();
  await expect.poll(() => answered).toBe(60);
  nowMs += 1_000;
  expect(pace.next("", undefined)).toBeUndefined();
});

it("answers a bounded number at a time after a pause of the process", async () => {
  let nowMs = 1_000;
  const pace = new RefusalPace(() => nowMs);
  let answered = 0;
  const answeredBy: number[] = [];
  for (let i = 0; i < 1_300; i++) void pace.next("", undefined)?.then(() => answered++);
  nowMs += 1_000;
  for (let turn = 0; answered < 1_000 && turn < 10_000; turn++) {
    const before = answered;
    await new Promise((resolve) => setImmediate(resolve));
    answeredBy.push(answered - before);
  }
  expect(answered).toBe(1_000);
  expect(Math.max(...answeredBy)).toBeLessThan(1_000);
});

it("frees the place of a refusal whose client disconnects, and lets others wait less for it", async () => {
  let nowMs = 1_000;
  const pace = new RefusalPace(() => nowMs);
  const socket = new EventEmitter();
  const gone = { socket } as unknown as ServerResponse;
  for (let i = 0; i < 300; i++) pace.next("", undefined);
  const answered = { gone: 0, other: 0 };
  for (let i = 0; i < 10; i++) void pace.next("many", gone)?.then(() => answered.gone++);
  void pace.next("one", undefined)?.then(() => answered.other++);
  socket.emit("close");
  await expect.poll(() => answered).toEqual({ gone: 10, other: 0 });
  expect(socket.listenerCount("close")).toBe(0);
  nowMs += 0.4;
  await expect.poll(() => answered.other).toBe(1);
});
