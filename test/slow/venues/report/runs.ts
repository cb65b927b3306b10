import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { RunRecord } from "../../../conformance/run-record.ts";
import { RESULTS, RUNS } from "./parts.ts";

/** The part of vitest's JSON results that is read here. */
interface TestResults {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** What the parts of a run left behind. */
export interface SuiteRuns {
  readonly runs: readonly RunRecord[];
  readonly skipped: readonly string[];
  readonly failed: readonly string[];
  /** Parts that nothing has started since the last whole run: added after it. */
  readonly absent: readonly string[];
}

/** Reads what each of these parts left. A part that began and has no results has ended before its time, and counts as failed. */
export function readRuns(parts: readonly string[]): SuiteRuns {
  const absent = parts.filter((name) => !existsSync(join(RUNS, name)));
  const read = parts.filter((name) => !absent.includes(name)).map((name) => readPart(join(RUNS, name), name));
  return {
    absent,
    runs: read.flatMap(({ runs }) => runs),
    skipped: [...new Set(read.flatMap(({ skipped }) => skipped))],
    failed: read.flatMap(({ failed }) => failed),
  };
}

function readPart(folder: string, name: string): Omit<SuiteRuns, "absent"> {
  const results = join(folder, RESULTS);
  if (!existsSync(results)) return { runs: [], skipped: [], failed: [`${name} did not end`] };
  const { testResults } = JSON.parse(readFileSync(results, "utf8")) as TestResults;
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const broken = testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0);
  return {
    runs: readdirSync(folder)
      .filter((file) => file.endsWith(".jsonl"))
      .flatMap((file) => readFileSync(join(folder, file), "utf8").trimEnd().split("\n"))
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as RunRecord),
    skipped: tests.filter(({ status }) => status === "pending" || status === "skipped").map(({ fullName }) => fullName),
    failed: [
      ...tests.filter(({ status }) => status === "failed").map(({ fullName }) => fullName),
      ...broken.map((file) => `${file.name}: ${file.message}`),
    ],
  };
}

/** The ratio of bound to use that this share of the trades stays at or below. */
export function unitRatioAt(runs: readonly RunRecord[], share: number): number {
  const counts = new Map<number, number>();
  for (const { unitRatios } of runs)
    for (const [ratio, trades] of Object.entries(unitRatios))
      counts.set(Number(ratio), (counts.get(Number(ratio)) ?? 0) + trades);
  const ordered = [...counts].sort(([a], [b]) => a - b);
  const wanted = share * sum(ordered, ([, trades]) => trades);
  let seen = 0;
  for (const [ratio, trades] of ordered) {
    seen += trades;
    if (seen >= wanted) return ratio / 100;
  }
  return 0;
}

/** The sum of a figure over items. */
export function sum<T>(items: readonly T[], figure: (item: T) => number): number {
  return items.reduce((total, item) => total + figure(item), 0);
}
