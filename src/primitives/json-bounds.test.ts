import { expect, test } from "vitest";
import { scanJson } from "./json-bounds.ts";

const numbersOf = (text: string): string[] => {
  const found: string[] = [];
  scanJson(text, (start, end) => found.push(text.slice(start, end)));
  return found;
};

test("finds every number outside of strings", () => {
  const value = { a: [1, -2.5, 1e21, { "7": null, b: "8, 9" }], 'quote " 10': "back\\slash \\", c: ['"', 11, true] };
  expect(numbersOf(JSON.stringify(value))).toEqual(["1", "-2.5", "1e+21", "11"]);
  expect(numbersOf(JSON.stringify(value, undefined, 2))).toEqual(["1", "-2.5", "1e+21", "11"]);
});

test.each([
  ["nesting", `${"[".repeat(33)}${"]".repeat(33)}`],
  ["nesting of objects", '{"a":'.repeat(1_000)],
  ["numbers", `[${"1,".repeat(40_000)}1]`],
  ["strings", `[${'"",'.repeat(40_000)}""]`],
  ["a long number", "1".repeat(65)],
  ["blanks", " ".repeat(600_000)],
  ["commas", ",".repeat(600_000)],
  ["escaped quotes", `"${'\\"'.repeat(300_000)}"`],
  ["backslashes", `"${"\\\\".repeat(300_000)}"`],
])("refuses too much of %s", (_, text) => {
  expect(() => scanJson(text, () => {})).toThrow(SyntaxError);
});

test("takes what nodes answer: long strings, many accounts, nested transactions", () => {
  expect(numbersOf(`["${"A".repeat(4_000_000)}",1]`)).toEqual(["1"]);
  const account = { pubkey: "p", account: { data: ["AAAA", "base64"], executable: false, lamports: 5, owner: "o" } };
  expect(numbersOf(JSON.stringify(Array.from({ length: 2_000 }, () => account)))).toHaveLength(2_000);
  expect(() => scanJson(`${"[".repeat(32)}${"]".repeat(32)}`, () => {})).not.toThrow();
});
