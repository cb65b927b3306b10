import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LimitedWarnings } from "./limited-warnings.ts";

let lines: string[];
let nowMs: number;
let warnings: LimitedWarnings;
beforeEach(() => {
  vi.useFakeTimers();
  lines = [];
  nowMs = 0;
  warnings = new LimitedWarnings(
    (line) => lines.push(line),
    () => nowMs,
  );
});
afterEach(() => void vi.useRealTimers());

test("ten lines of a kind are written in a minute, and then their number, whatever their reasons are", () => {
  for (let i = 0; i < 5_000; i++)
    warnings.warn(`Cannot decode a notice of the Solana node a.example:${i}: SyntaxError: ${"x".repeat(i % 90)}${i}`);
  warnings.warn("Cannot open a subscription connection to b.example; polling fills the gap: refused");
  expect(lines).toHaveLength(11);
  nowMs = 60_000;
  vi.advanceTimersByTime(60_000);
  expect(lines[11]).toBe(
    "4990 more lines like this were left out: Cannot decode a notice of the Solana node a.example:…",
  );
  warnings.warn("Cannot decode a notice of the Solana node a.example:1: again");
  expect(lines).toHaveLength(13);
});

test("lines that differ in a number or an address are of a kind", () => {
  const addresses = ["So11111111111111111111111111111111111111112", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"];
  for (let i = 0; i < 100; i++)
    warnings.warn(`The stream contradicts most Solana nodes about account ${addresses[i % 2]}, which is read instead.`);
  expect(lines).toHaveLength(10);
});

test("endless kinds take a bounded place, and are written as others", () => {
  const letters = "abcdefghijklmnop";
  for (let i = 0; i < 5_000; i++) warnings.warn([...String(i)].map((digit) => letters[Number(digit)]).join(""));
  expect(lines.length).toBeLessThanOrEqual(510);
  warnings.close();
  expect(lines.at(-1)).toMatch(/^\d+ more lines like this were left out: other warnings$/);
});
