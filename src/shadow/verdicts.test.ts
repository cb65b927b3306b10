import { expect, test } from "vitest";
import { MarketRecord, Verdicts } from "./verdicts.ts";

test("a market that comes or goes is counted by itself, not together with thousands of its venue", () => {
  const verdicts = new Verdicts(true);
  let looks = 0;
  const first = new MarketRecord("pump_swap");
  Object.defineProperty(first, "finding", {
    get() {
      looks += 1;
      return { kind: "agrees" };
    },
  });
  verdicts.add(first);
  looks = 0;
  const others = Array.from({ length: 1_000 }, () => new MarketRecord("pump_swap"));
  for (const record of others) verdicts.add(record);
  expect(verdicts.countsOf("pump_swap")).toEqual({ unchecked: 1_000, agrees: 1, differs: 0, replaced: 0 });
  for (const record of others) verdicts.delete(record);
  expect(verdicts.countsOf("pump_swap")).toEqual({ unchecked: 0, agrees: 1, differs: 0, replaced: 0 });
  expect(looks).toBe(0);
});

test("a market that goes takes along what its trades needed and refused, and is counted once", () => {
  const verdicts = new Verdicts(true);
  const [dear, cheap] = [new MarketRecord("pump_swap"), new MarketRecord("pump_swap")];
  for (const record of [dear, cheap]) verdicts.add(record);
  dear.noteUse(1.2);
  verdicts.settle("pump_swap");
  expect(verdicts.standingOf(cheap).unitsScale).toBeCloseTo(1.26, 6);
  verdicts.delete(dear);
  expect(verdicts.delete(dear)).toBe(false);
  expect(verdicts.standingOf(cheap).unitsScale).toBe(1);
  expect(verdicts.countsOf("pump_swap").unchecked).toBe(1);
});
