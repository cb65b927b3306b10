import { expect, it } from "vitest";
import { OpeningRate } from "./opening-rate.ts";

/** The streams that connections may have at first which come one after another. */
function shares(times: readonly number[]): readonly number[] {
  const rate = new OpeningRate();
  return times.map((atMs) => rate.share(atMs));
}

it("lets a connection that comes alone have all of its streams", () => {
  for (const share of shares([0, 5_000, 10_000])) expect(share).toBeGreaterThanOrEqual(256);
});

it("lets a few that come together have some, and each of a flood one", () => {
  expect(shares([0, 0, 0, 0]).slice(1)).toEqual([128, 64, 42]);
  const flood = shares(Array.from({ length: 300 }, (_, i) => i * 12));
  expect(flood.at(-1)).toBe(1);
});

it("forgets a flood within seconds", () => {
  const flood = Array.from({ length: 100 }, () => 0);
  expect(shares([...flood, 6_000]).at(-1)).toBeGreaterThanOrEqual(256);
});
