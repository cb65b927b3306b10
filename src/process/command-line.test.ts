import { expect, test } from "vitest";
import { configProblems } from "../../test/support/config-problems.ts";
import { parseServiceArguments } from "./command-line.ts";

const problemsOf = (argv: readonly string[]) => configProblems(() => parseServiceArguments(argv));

test.each([
  [[], { task: "serve", workers: undefined }],
  [["--workers", "4"], { task: "serve", workers: 4 }],
  [["--check", "--workers", "2"], { task: "check", workers: 2 }],
  [["--chain"], { task: "chain", workers: undefined }],
  [["--help", "--wrokers"], { task: "help", workers: undefined }],
])("%j", (argv, expected) => {
  expect(parseServiceArguments(argv)).toEqual(expected);
});

test.each([
  [["--chekc"], /^--chekc is not an option\. Options: --workers N/],
  [["4"], /^4 is not an option/],
  [["constructor"], /^constructor is not an option/],
  [["--workers"], /^--workers must be followed by a whole number from 1 to 64 \(processes\)\.$/],
  [["--workers", "0"], /^--workers must be/],
  [["--workers", "1e1"], /^--workers must be/],
  [["--workers", "65"], /^--workers must be/],
  [["--chain", "--workers", "2"], /^--chain runs one process/],
])("%j is refused", (argv, expected) => {
  expect(problemsOf(argv)).toEqual([expect.stringMatching(expected)]);
});

test("reports every problem at once", () => {
  expect(problemsOf(["--x", "--workers", "no", "--y"])).toHaveLength(3);
});
