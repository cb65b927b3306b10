import { afterEach, expect, test } from "vitest";
import type { VenueCounts } from "../../trade/venue-activity.ts";
import type { CallRecord } from "../call/call-record.ts";
import { Metrics } from "./metrics.ts";
import { RecentMinutes } from "./recent-figures.ts";

const metrics = new Metrics();
const NONE = { quotes: 0, builds: 0, landed: 0, withheld: 0, refused: 0, slippage: 0, failed: 0 };
let venues: ReadonlyMap<string, VenueCounts> = new Map();
const recent = new RecentMinutes(() => ({ ...metrics.snapshot(), venues }));
afterEach(() => recent.close());

const call = (method: string, durationMs: number, code = "OK") =>
  metrics.record({
    ...{ method, code, durationMs },
    stages: { startMs: 0, names: ["route", "seal"], endsMs: [durationMs / 2, durationMs] },
  } as unknown as CallRecord);

test("shows the last fifteen minutes, and nothing older", () => {
  const empty = recent.figures();
  expect(empty).toMatchObject({ minutes: 1, builds: 0, quotes: 0, failures: [], buildStages: [] });
  expect(empty.build).toEqual({ count: 0, p50Ms: null, p99Ms: null });
  for (let i = 0; i < 98; i++) call("Buy", 0.9);
  call("Sell", 90);
  call("Sell", 90, "NO_ROUTE");
  call("Quote", 1, "NO_ROUTE");
  call("Quote", 1, "STATE_STALE");
  metrics.recordSubmission({
    ...{ code: "OK", startedAtMs: 0, durable: true },
    events: [
      { kind: "sent", atMs: 2, sender: "rpc-1" },
      { kind: "confirmed", atMs: 900 },
    ],
  });
  recent.tick();
  const { build, buildStages, ...figures } = recent.figures();
  expect(figures).toMatchObject({ minutes: 2, builds: 100, quotes: 2, submits: 0 });
  expect(figures.failures).toEqual([
    { code: "NO_ROUTE", count: 2 },
    { code: "STATE_STALE", count: 1 },
  ]);
  // 98 of 100 lie between 0.5 and 1 ms, two between 50 and 100.
  expect(build).toEqual({ count: 100, p50Ms: 0.755, p99Ms: 75 });
  expect(buildStages.map(({ stage, count }) => [stage, count])).toEqual([
    ["route", 100],
    ["seal", 100],
  ]);
  expect(figures.landing.map(({ event, count }) => [event, count])).toEqual([
    ["sent", 1],
    ["processed", 0],
    ["confirmed", 1],
  ]);
  expect(figures.series.map((minute) => minute.build.count)).toEqual([100, 0]);
  for (let minute = 0; minute < 20; minute++) recent.tick();
  expect(recent.figures()).toMatchObject({ minutes: 15, builds: 0, failures: [] });
  expect(recent.figures().series).toHaveLength(15);
});

test("has the figures of each venue in these minutes, and none without any", () => {
  venues = new Map([
    ["busy", { ...NONE, quotes: 7, builds: 3 }],
    ["quiet", NONE],
  ]);
  for (let minute = 0; minute < 20; minute++) recent.tick();
  expect(recent.figures().venues).toEqual([]);
  venues = new Map([
    ["busy", { ...NONE, quotes: 9, builds: 3, landed: 1, slippage: 2 }],
    ["quiet", NONE],
    ["late", { ...NONE, withheld: 4, refused: 5, failed: 6 }],
  ]);
  expect(recent.figures().venues).toEqual([
    { id: "busy", ...NONE, quotes: 2, landed: 1, slippage: 2 },
    { id: "late", ...NONE, withheld: 4, refused: 5, failed: 6 },
  ]);
  for (let minute = 0; minute < 15; minute++) recent.tick();
  expect(recent.figures().venues).toEqual([]);
});
