import { expect, test } from "vitest";
import { feeRecipientOf } from "./pump-recipients.ts";

const COMMON = ["a", "b", "c", "d", "e"];

test("both of Pump's programs are paid at the same recipient, of all that both know", () => {
  const [curves, pools] = [
    [...COMMON, "f", "g", "h"],
    [...COMMON, "x", "y", "z"],
  ];
  const chosen = Array.from({ length: 2_000 }, (_, salt) => [
    feeRecipientOf(curves, salt),
    feeRecipientOf(pools, salt),
  ]);
  for (const [curve, pool] of chosen) expect(curve).toBe(pool);
  expect(new Set(chosen.map(([curve]) => curve))).toEqual(new Set(COMMON));
});

test("a program that lists fewer is paid at one of those", () => {
  expect(Array.from({ length: 4 }, (_, salt) => feeRecipientOf(["a", "b"], salt))).toEqual(["a", "b", "a", "b"]);
});
