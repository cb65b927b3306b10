import { expect, test } from "vitest";
import { closest, didYouMean } from "./closest.ts";

const FIELDS = ["mint", "solAmount", "slippage", "priority"];

test.each([
  ["slipage", "slippage"],
  ["Slippage", "slippage"],
  ["solamount", "solAmount"],
  ["prioritty", "priority"],
  ["mnt", "mint"],
])("%s is probably %s", (word, meant) => {
  expect(closest(word, FIELDS)).toBe(meant);
});

test.each(["", "amount", "x", "callback", "s".repeat(10_000)])("%s is none of them", (word) => {
  expect(closest(word, FIELDS)).toBeUndefined();
  expect(didYouMean(word, FIELDS)).toBe("");
});
