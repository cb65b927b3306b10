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
const SEQUENCE = 50;
/** No build of these programs is public: the conformance tests of the fast suite run them on stand-ins. */
const WITHOUT_PROGRAM = (await readVenueFolders())
  .filter(({ facts }) => facts.measured === undefined)
  .map(({ venue }) => venue.id);
/** The program, or the accounts of mainnet, that a test's title names. */
const PROVEN_ON = /\.venues\/[\w/.-]*\w/g;

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
  "proven on",
];
const BUILD_HEADER = ["venue", "build", "trades", "mismatches", "bound/used, worst"];
const rows = venues.map(({ id }) => rowOf(id));
process.stdout.write(`${table([header, ...rows])}\n`);
const byBuild = venues.flatMap(({ id }) => buildRowsOf(id));
process.stdout.write(`\nBy build:\n${table([BUILD_HEADER, ...byBuild])}\n`);

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

/** A row for each copy of a venue's program that its runs name. */
function buildRowsOf(venue: string): string[][] {
  const own = runs.filter((run) => run.venue === venue);
  const buildOf = ({ test }: RunRecord): string => test.match(PROVEN_ON)?.find((path) => path.endsWith(".so")) ?? "";
  return [...new Set(own.map(buildOf))].sort().map((build) => {
    const made = own.filter((run) => buildOf(run) === build);
    return [
      venue,
      build,
      String(sum(made, ({ executed }) => executed)),
      String(sum(made, ({ mismatches }) => mismatches)),
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
    [...new Set(own.flatMap(({ test }) => test.match(PROVEN_ON) ?? []))].join(", "),
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
