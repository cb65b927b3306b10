/**
 * The table of what the venues' runs proved: trades, mismatches, compute units, transaction sizes, and what was skipped.
 * Runs the tests first; with `--last`, prints what the last run left. `npm run venues:report`
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readVenueFolders } from "../../../scripts/venue-folders.ts";
import { venues } from "../../../src/venues/registry.ts";
import type { RunRecord } from "../../conformance/run-record.ts";

const RUNS = ".venues/runs";
const RESULTS = join(RUNS, "results.json");
const LEAST_TRADES = 2_000;
/** Promise 53 and 54: over all venues in one run. */
const LEAST_IN_ALL = 40_000;
const LEAST_BUILDS = 25;
const MOST_UNIT_RATIO = 1.3;
const SEQUENCE = 50;
/** No build of these programs is public: the conformance tests of the fast suite run them on stand-ins. */
const WITHOUT_PROGRAM = (await readVenueFolders())
  .filter(({ facts }) => facts.measured === undefined)
  .map(({ venue }) => venue.id);
/** The part of vitest's JSON results that is read here. */
interface TestResults {
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

const root = fileURLToPath(new URL("../../..", import.meta.url));
process.chdir(root);
if (!process.argv.includes("--last")) {
  rmSync(RUNS, { recursive: true, force: true });
  spawnSync(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "run", "--project", "venues", "--reporter=json", `--outputFile=${RESULTS}`],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
}
const runs = existsSync(RUNS) ? readRuns() : [];
const results = existsSync(RESULTS) ? (JSON.parse(readFileSync(RESULTS, "utf8")) as TestResults) : undefined;

const header = [
  "venue",
  "trades",
  "mismatches",
  "refused",
  `runs of ${SEQUENCE}+`,
  "guards held",
  "units, most",
  "bound/used, worst",
  "bytes, most",
  "builds",
];
const BUILD_HEADER = ["venue", "build", "trades", "mismatches", "bound/used, p99", "worst"];
const rows = venues.map(({ id }) => rowOf(id));
process.stdout.write(`${table([header, ...rows])}\n`);
const byBuild = venues.flatMap(({ id }) => buildRowsOf(id));
process.stdout.write(`\nBy build:\n${table([BUILD_HEADER, ...byBuild])}\n`);
const total = sum(runs, ({ executed }) => executed);
const builds = new Set(runs.map(({ build }) => build).filter((build) => build !== "")).size;
const p99 = unitRatioAt(runs, 0.99);
process.stdout.write(
  `\nIn all: ${total} trades on ${builds} builds, ${sum(runs, ({ mismatches }) => mismatches)} mismatches; ` +
    `bound/used: p50 ${unitRatioAt(runs, 0.5).toFixed(2)}, p99 ${p99.toFixed(2)}, least ${unitRatioAt(runs, 0).toFixed(2)}\n`,
);

const notes = venues.flatMap(({ id }) => {
  if (WITHOUT_PROGRAM.includes(id)) return [];
  const trades = sum(
    runs.filter(({ venue }) => venue === id),
    ({ executed }) => executed,
  );
  return trades >= LEAST_TRADES ? [] : [`${id}: ${trades} trades, fewer than ${LEAST_TRADES}`];
});
const tests = (results?.testResults ?? []).flatMap(({ assertionResults }) => assertionResults);
const skipped = tests.filter(({ status }) => status === "pending" || status === "skipped");
const failed = tests.filter(({ status }) => status === "failed");
const broken = (results?.testResults ?? []).filter(
  ({ status, assertionResults }) => status === "failed" && assertionResults.length === 0,
);
if (total < LEAST_IN_ALL) notes.push(`${total} trades in all, fewer than ${LEAST_IN_ALL}`);
if (builds < LEAST_BUILDS) notes.push(`${builds} builds, fewer than ${LEAST_BUILDS}`);
if (p99 > MOST_UNIT_RATIO) notes.push(`bound/used at the 99th percentile is ${p99}, above ${MOST_UNIT_RATIO}`);
if (results === undefined) notes.push("No results of the tests themselves: run without --last.");
print(`Skipped, for want of what the title names: ${skipped.length === 0 ? "nothing" : ""}`, skipped.map(titleOf));
if (failed.length + broken.length > 0)
  print("Failed:", [...failed.map(titleOf), ...broken.map(({ name, message }) => `${name}: ${message}`)]);
print("No public program to run on, proven on the embedded chain only:", [...WITHOUT_PROGRAM]);
if (notes.length > 0) print("Missing:", notes);
process.exitCode = failed.length + broken.length + notes.length + sum(runs, ({ mismatches }) => mismatches) > 0 ? 1 : 0;

function readRuns(): RunRecord[] {
  return readdirSync(RUNS)
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => readFileSync(join(RUNS, name), "utf8").trimEnd().split("\n"))
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as RunRecord);
}

/** The ratio of bound to use that this share of the trades stays at or below. */
function unitRatioAt(made: readonly RunRecord[], share: number): number {
  const counts = new Map<number, number>();
  for (const { unitRatios } of made)
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

/** A row for each copy of a venue's program that its runs loaded. */
function buildRowsOf(venue: string): string[][] {
  const own = runs.filter((run) => run.venue === venue);
  return [...new Set(own.map(({ build }) => build))].sort().map((build) => {
    const made = own.filter((run) => run.build === build);
    return [
      venue,
      build === "" ? "a stand-in" : build,
      String(sum(made, ({ executed }) => executed)),
      String(sum(made, ({ mismatches }) => mismatches)),
      unitRatioAt(made, 0.99).toFixed(2),
      Math.max(0, ...made.map(({ worstUnitRatio }) => worstUnitRatio)).toFixed(2),
    ];
  });
}

function rowOf(venue: string): string[] {
  const own = runs.filter((run) => run.venue === venue);
  const most = (figure: (run: RunRecord) => number): number => Math.max(0, ...own.map(figure));
  return [
    venue,
    String(sum(own, ({ executed }) => executed)),
    String(sum(own, ({ mismatches }) => mismatches)),
    String(sum(own, ({ refused }) => refused)),
    String(own.filter(({ asked }) => asked >= SEQUENCE).length),
    `${sum(own, ({ guardsHeld }) => guardsHeld)} of ${sum(own, ({ guards }) => guards)}`,
    String(most(({ maxUnits }) => maxUnits)),
    most(({ worstUnitRatio }) => worstUnitRatio).toFixed(2),
    String(most(({ maxBytes }) => maxBytes)),
    String(new Set(own.map(({ build }) => build)).size),
  ];
}

function titleOf({ fullName }: { readonly fullName: string }): string {
  return fullName;
}

function sum<T>(items: readonly T[], figure: (item: T) => number): number {
  return items.reduce((total, item) => total + figure(item), 0);
}

function print(title: string, lines: readonly string[]): void {
  process.stdout.write(`\n${title}\n${lines.map((line) => `  ${line}\n`).join("")}`);
}

function table(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
