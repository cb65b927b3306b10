import { expect, test } from "vitest";
import { Health } from "./health.ts";

const healthOf = (storeAgeMs: number, refusal?: string) =>
  new Health({
    head: { silenceMs: () => 0, fault: () => undefined },
    keys: { storeAgeMs: () => storeAgeMs },
    store: { writeRefusal: () => refusal },
    maxAgeMs: 2_000,
  });

test.each([
  [0, undefined, "ok"],
  [0, "database or disk is full", /^writes fail \(database or disk is full\): registration is refused/],
  [3_000, undefined, /^does not answer: registration/],
  [3_000, "database or disk is full", /^does not answer/],
])(
  "a database that last answered %i ms ago and says %s to writes is named, and makes nothing unready",
  (ageMs, refusal, store) => {
    const { checks, ready, submits } = healthOf(ageMs, refusal).readiness();
    expect(checks.store).toEqual(typeof store === "string" ? store : expect.stringMatching(store));
    expect([ready, submits]).toEqual([true, true]);
  },
);
