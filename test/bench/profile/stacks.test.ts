import { expect, test } from "vitest";
import { newestNames } from "./stacks.ts";

test("compiled code has the name of what lies in its memory last, so that nothing else is charged for it", () => {
  const lines = [
    "7f00 40 freed",
    "8000 20 beside",
    "7f20 60 in its place",
    "9000 10 compiled",
    "9000 10 compiled again",
  ];
  expect(newestNames(`${lines.join("\n")}\n`)).toBe("8000 20 beside\n7f20 60 in its place\n9000 10 compiled again\n");
});

test("code that begins where other code ends keeps its name", () => {
  const map = "7f00 28 first\n7f28 18 second\n";
  expect(newestNames(map)).toBe(map);
});
