import { expect, test } from "vitest";
import { isNoWorse, type TradeReview } from "./review.ts";

const costs = { baseFee: "5000", priorityFee: "0", tip: "0", rentPaid: "2000000", rentReturned: "0" };
const accepted = {
  built: { priorityCost: 0.001, costs },
  mostInputRaw: "100",
  leastOutputRaw: "90",
  unproven: ["price"],
} as unknown as TradeReview;
const changed = (changes: object, built: object = {}): TradeReview => ({
  ...accepted,
  ...changes,
  built: { ...accepted.built, ...built },
});

test("a trade built again is asked about again if anything about it is worse, rent included", () => {
  expect(isNoWorse(changed({}), accepted)).toBe(true);
  expect(isNoWorse(changed({ leastOutputRaw: "91", unproven: [] }), accepted)).toBe(true);
  expect(isNoWorse(changed({ leastOutputRaw: "89" }), accepted)).toBe(false);
  expect(isNoWorse(changed({ mostInputRaw: "101" }), accepted)).toBe(false);
  expect(isNoWorse(changed({ unproven: ["price", "transferFee"] }), accepted)).toBe(false);
  expect(isNoWorse(changed({}, { priorityCost: 0.002 }), accepted)).toBe(false);
  expect(isNoWorse(changed({}, { costs: { ...costs, rentPaid: "30000000" } }), accepted)).toBe(false);
  expect(isNoWorse(changed({}, { costs: { ...costs, rentPaid: "1000000" } }), accepted)).toBe(true);
  const returning = changed({}, { costs: { ...costs, rentReturned: "2000000" } });
  // What is returned only the service says.
  const claimed = { ...costs, rentPaid: "30000000", rentReturned: "40000000" };
  expect(isNoWorse(changed({}, { costs: claimed }), accepted)).toBe(false);
  expect(isNoWorse(accepted, returning)).toBe(false);
  const checked = changed({}, { proof: { checked: true, shadowSlot: 7 } });
  const unchecked = changed({}, { proof: { checked: false } });
  expect(isNoWorse(checked, unchecked)).toBe(true);
  for (const next of [unchecked, accepted]) expect(isNoWorse(next, checked)).toBe(false);
});
