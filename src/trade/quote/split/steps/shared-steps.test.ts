import { expect, test } from "vitest";
import { allAtOnce } from "../../long-searches.ts";
import { SharedSteps } from "./shared-steps.ts";

const STEPS = 5;

function counted() {
  const count = { begun: 0, steps: 0 };
  const shared = new SharedSteps(function* () {
    count.begun++;
    for (let step = 0; step < STEPS; step++) {
      count.steps++;
      yield;
    }
    return count.begun;
  });
  return { count, shared };
}

test("searches that take turns share one result and its work, and one that is given up leaves its steps to others", () => {
  const { count, shared } = counted();
  shared.result().next();
  const [one, other] = [shared.result(), shared.result()];
  one.next();
  other.next();
  expect(allAtOnce(one)).toBe(1);
  expect(allAtOnce(other)).toBe(1);
  expect(shared.found).toEqual({ value: 1 });
  expect(count).toEqual({ begun: 1, steps: STEPS });
});

test("a search that fails begins anew", () => {
  let begun = 0;
  // biome-ignore lint/correctness/useYield: fails in its first step
  const shared = new SharedSteps(function* () {
    if (begun++ === 0) throw new Error("the first one fails");
    return begun;
  });
  expect(() => allAtOnce(shared.result())).toThrow("the first one fails");
  expect(allAtOnce(shared.result())).toBe(2);
});
