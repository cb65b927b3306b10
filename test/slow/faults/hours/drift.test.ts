import { expect, it } from "vitest";
import { createRandom } from "../../../../src/primitives/random.ts";
import { driftPerHour } from "./drift.ts";

const MINUTE_MS = 60_000;
const samplesOf = (valueAt: (minute: number) => number) =>
  Array.from({ length: 48 }, (_, i) => ({ atMs: 5 * i * MINUTE_MS, value: valueAt(5 * i) }));

it("finds the slope beneath noise and outliers", () => {
  const random = createRandom(1);
  const noise = () => Number(random.between(0n, 100n)) / 100;
  const growing = samplesOf((minute) => 80 + minute / 30 + noise() + (minute % 60 === 0 ? 40 : 0));
  expect(driftPerHour(growing)).toBeCloseTo(2, 0);
  expect(Math.abs(driftPerHour(samplesOf(() => 80 + noise())))).toBeLessThan(0.2);
});

it("is not moved by one step at the beginning", () => {
  expect(driftPerHour(samplesOf((minute) => (minute < 20 ? 60 : 80)))).toBe(0);
});
