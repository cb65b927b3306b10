import fc from "fast-check";
import { expect, it } from "vitest";
import { TokenBuckets } from "./token-bucket.ts";

it("lets a burst pass, then calls at the rate", () => {
  const buckets = new TokenBuckets(10, 5);
  const passed = (nowMs: number) => {
    let count = 0;
    while (buckets.take("a", nowMs).allowed) count++;
    return count;
  };
  expect(passed(0)).toBe(5);
  expect(passed(99)).toBe(0);
  expect(passed(100)).toBe(1);
  expect(passed(1_100)).toBe(5);
  expect(buckets.take("b", 1_100)).toEqual({ allowed: true, remaining: 4, resetMs: 100, retryAfterMs: 0 });
});

it("gives the time to retry, to the millisecond", () => {
  const buckets = new TokenBuckets(4, 1);
  expect(buckets.take("a", 1_000).allowed).toBe(true);
  expect(buckets.take("a", 1_100)).toEqual({ allowed: false, remaining: 0, resetMs: 150, retryAfterMs: 150 });
  expect(buckets.take("a", 1_249).allowed).toBe(false);
  expect(buckets.take("a", 1_250).allowed).toBe(true);
});

it("never lets more pass than burst and rate, for any arrival pattern", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 500 }),
      fc.integer({ min: 1, max: 100 }),
      fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 300 }),
      (perSecond, burst, gapsMs) => {
        const buckets = new TokenBuckets(perSecond, burst);
        let nowMs = 0;
        let allowed = 0;
        for (const gapMs of gapsMs) {
          nowMs += gapMs;
          if (buckets.take("a", nowMs).allowed) allowed++;
          expect(allowed).toBeLessThanOrEqual(burst + (nowMs * perSecond) / 1_000 + 1e-6);
        }
      },
    ),
  );
});

it("charges calls that passed in other processes", () => {
  const buckets = new TokenBuckets(10, 10);
  expect(buckets.charge("a", 9, 0, 0, 60_000)).toBe(900);
  expect(buckets.take("a", 0)).toMatchObject({ allowed: true, remaining: 0 });
  expect(buckets.take("a", 0).allowed).toBe(false);
  buckets.charge("a", 600, 0, 0, 60_000);
  expect(buckets.take("a", 0).retryAfterMs).toBe(59_100);
  // What is charged as of an earlier time has been paid off since, and takes nothing off other debt.
  buckets.charge("a", 5, -1_000, 0, 60_000);
  expect(buckets.take("a", 0).retryAfterMs).toBe(59_100);
  buckets.charge("a", 5_000, 0, 0, 60_000);
  expect(buckets.take("a", 0).retryAfterMs).toBe(60_100);
});

it("has room again after a call is given back", () => {
  const buckets = new TokenBuckets(10, 2);
  for (let i = 0; i < 50; i++) {
    expect(buckets.take("a", 0)).toMatchObject({ allowed: true, remaining: 1 });
    buckets.giveBack("a");
  }
  buckets.giveBack("b");
  expect(buckets.take("b", 0)).toMatchObject({ allowed: true, remaining: 1 });
});

it("forgets full buckets of names that only other processes serve", () => {
  const buckets = new TokenBuckets(10, 10);
  for (let i = 0; i < 50_000; i++) buckets.charge(`address ${i}`, 1, i, i, 60_000);
  expect(buckets.size).toBeLessThanOrEqual(20_000);
});

it("takes from the same bucket with and without a keeper, also after it was forgotten", () => {
  const [buckets, others] = [new TokenBuckets(10, 3), new TokenBuckets(10, 3)];
  const [one, two] = [{}, {}];
  const left = (keeper: object | undefined, nowMs: number) => buckets.take("a", nowMs, undefined, keeper).remaining;
  expect([left(one, 0), left(two, 0), left(undefined, 0), left(one, 0)]).toEqual([2, 1, 0, 0]);
  // Others that serve the same keeper have a bucket of their own.
  expect(others.take("a", 0, undefined, one).remaining).toBe(2);
  expect(left(one, 0)).toBe(0);
  expect(left(two, 1_000)).toBe(2);
  for (let i = 0; i < 20_000; i++) buckets.take(`name ${i}`, 5_000 + 1_000 * i);
  expect(buckets.size).toBeLessThan(20_000);
  const laterMs = 100_000_000;
  expect([left(one, laterMs), left(undefined, laterMs), left(two, laterMs), left(one, laterMs)]).toEqual([2, 1, 0, 0]);
});
