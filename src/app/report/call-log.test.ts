import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type CallRecord, StageClock } from "../../api/call/call-record.ts";
import type { Config } from "../../config/settings.ts";
import { CallLog } from "./call-log.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function start(logLevel: Config["logLevel"]) {
  const lines: (readonly [facts: Record<string, unknown>, message: string])[] = [];
  const note = (facts: object, message: string) => void lines.push([{ ...facts }, message]);
  const log = new CallLog({ config: { logLevel }, logger: { debug: note, info: note, warn: note, error: note } });
  const add = (method: string, code: string, ...stages: string[]) => {
    const clock = new StageClock(() => 0);
    for (const stage of stages) clock.mark(stage);
    const record: CallRecord = {
      method,
      requestId: "req",
      code,
      durationMs: 1,
      stages: clock,
      keyId: undefined,
      traceparent: undefined,
    };
    log.add(record);
  };
  return { log, lines, add };
}

it("logs ten refused or repeated submits of a code in a minute, then their number, and begins anew", () => {
  const { lines, add } = start("info");
  for (let i = 0; i < 1_000; i++) add("Submit", "AUTH_ERROR", "receive");
  for (let i = 0; i < 12; i++) add("Submit", "OK", "receive", "auth", "validate");
  expect(lines.map(([{ code }]) => code)).toEqual([...Array(10).fill("AUTH_ERROR"), ...Array(10).fill("OK")]);
  lines.length = 0;
  vi.advanceTimersByTime(60_000);
  expect(lines).toEqual([
    [{ method: "Submit", code: "AUTH_ERROR", leftOut: 990 }, "more submits like this were left out"],
    [{ method: "Submit", code: "OK", leftOut: 2 }, "more submits like this were left out"],
  ]);
  add("Submit", "AUTH_ERROR", "receive");
  expect(lines).toHaveLength(3);
  expect(vi.getTimerCount()).toBe(1);
});

it("logs every submit that follows its message, and no other call", () => {
  const { log, lines, add } = start("info");
  for (let i = 0; i < 1_000; i++)
    add("Submit", "OK", "receive", "auth", "validate", "open", "verify", "claim", "confirm");
  add("Buy", "OK", "receive");
  log.close();
  expect(lines).toHaveLength(1_000);
  expect(lines[0]![0]).toMatchObject({ method: "Submit", code: "OK", requestId: "req", ms: 1 });
});

it("logs every call at level debug", () => {
  const { lines, add } = start("debug");
  for (let i = 0; i < 20; i++) add("Submit", "AUTH_ERROR", "receive");
  add("Buy", "OK", "receive");
  expect(lines.map(([, message]) => message)).toEqual([...Array(20).fill("submit"), "call"]);
});
