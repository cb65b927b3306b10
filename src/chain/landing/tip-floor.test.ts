import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { type FakeTipFloor, LANDED_TIPS, spike, startFakeTipFloor } from "../../../test/support/fake-tip-floor.ts";
import { createTipFloor, type TipFloor } from "./tip-floor.ts";

let server: FakeTipFloor;
let floor: TipFloor | undefined;
let warnings: string[];
let nowMs: number;

beforeEach(async () => {
  server = await startFakeTipFloor();
  warnings = [];
  nowMs = 1_000;
});
afterEach(async () => {
  floor?.close();
  await server.close();
});

function start(timeoutMs = 30_000): TipFloor {
  floor = createTipFloor({
    url: `${server.url}?key=secret`,
    now: () => nowMs,
    warn: (message) => void warnings.push(message),
    refreshMs: 20,
    timeoutMs,
    maxResponseBytes: 4_096,
  });
  return floor;
}

const known = () => eventually(() => expect(floor!.lamports(50)).toBeDefined());
/** Some more questions have been answered. */
async function asked(more = 3): Promise<void> {
  const before = server.asked;
  await eventually(() => expect(server.asked).toBeGreaterThanOrEqual(before + more));
}

test("tips are in lamports, rounded up", async () => {
  start();
  await known();
  expect(([25, 50, 75, 95, 99, "ema50"] as const).map((one) => floor!.lamports(one))).toEqual([
    5_000n,
    10_000n,
    36_001n,
    1_400_000n,
    10_000_000n,
    9_953n,
  ]);
});

test("new tips are followed, spikes included", async () => {
  start();
  await known();
  server.answer = JSON.stringify([spike(1_000)]);
  await eventually(() => expect(floor!.lamports(75)).toBe(36_000_010n));
  expect(warnings).toEqual([]);
});

const odd = (more: object) => JSON.stringify([{ ...LANDED_TIPS, ...more }]);
test.each([
  ["no JSON", "<html>"],
  ["nothing", ""],
  ["null", "null"],
  ["a number", "7"],
  ["an object", JSON.stringify(LANDED_TIPS)],
  ["an empty list", "[]"],
  ["a list of null", "[null]"],
  ["a string for a number", odd({ landed_tips_75th_percentile: "0.001" })],
  ["NaN", odd({}).replace("0.0014", "NaN")],
  ["infinity", odd({}).replace("0.0014", "1e999")],
  ["null for a number", odd({ landed_tips_25th_percentile: null })],
  ["a negative tip", odd({ landed_tips_25th_percentile: -0.001 })],
  ["a field missing", odd({ ema_landed_tips_50th_percentile: undefined })],
  ["an implausible amount of SOL", odd({ landed_tips_99th_percentile: 101 })],
  ["percentiles out of order", odd({ landed_tips_50th_percentile: 0.5 })],
  ["more bytes than are read", `${odd({})}${" ".repeat(5_000)}`],
])("a report with %s is discarded with one warning, and the last one stays for a while", async (_name, answer) => {
  start();
  await known();
  server.answer = answer;
  await asked();
  expect(floor!.lamports(50)).toBe(10_000n);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain("Cannot read landed tips from 127.0.0.1");
  expect(warnings[0]).not.toContain("secret");
  nowMs += 60_001;
  expect(floor!.lamports(50)).toBeUndefined();
  server.answer = odd({});
  await known();
});

test.each([[302], [403], [404], [429], [500]])("HTTP %s is not a report", async (status) => {
  server.status = status;
  start();
  await asked(2);
  expect(floor!.lamports(50)).toBeUndefined();
  expect(warnings).toHaveLength(1);
});

test("a server that does not respond is asked again, one request at a time", async () => {
  server.answer = undefined;
  start(100);
  await eventually(() => expect(warnings).toHaveLength(1));
  expect(server.asked).toBeLessThanOrEqual(2);
  server.answer = odd({});
  await eventually(() => expect(floor!.lamports(50)).toBe(10_000n));
});
