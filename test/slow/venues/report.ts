// The table of what the venues' runs proved.
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readVenueFolders } from "../../../scripts/venue-folders.ts";
import { venues } from "../../../src/venues/registry.ts";
import type { RunRecord } from "../../conformance/run-record.ts";
import { readOptions } from "../options.ts";
import { partsOfSuite, RUNS, runParts } from "./report/parts.ts";
import { readRuns, sum, unitRatioAt } from "./report/runs.ts";

const LEAST_TRADES = 2_000;
/** Promise 53 and 54: over all venues in one run. */
const LEAST_IN_ALL = 40_000;
const LEAST_BUILDS = 25;
const MOST_UNIT_RATIO = 1.3;
const SEQUENCE = 50;
const HEADER = [
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
const BUILD_HEADER = ["venue", "build", "trades", "mismatches", "bound/used, least", "p99", "worst"];

const HELP = `The table of what the venues' runs proved: trades, mismatches, compute units, transaction sizes, and what was skipped. Runs every venue's
tests first, each build in a process of its own whose memory is bounded.

  npm run venues:report -- [options]

  --jobs 2          builds at a time; default 1
  --only meteora    runs the parts whose name contains this text again, beside what the others left
  --last            runs nothing and judges what did run: parts added since are named as not run, and do not count
  --help            this text
`;
const { values } = readOptions(HELP, {
  options: { jobs: { type: "string", default: "1" }, only: { type: "string" }, last: { type: "boolean" } },
});

process.chdir(fileURLToPath(new URL("../../..", import.meta.url)));
/** No build of these programs is public: the conformance tests of the fast suite run them on stand-ins. */
const WITHOUT_PROGRAM = (await readVenueFolders())
  .filter(({ facts }) => facts.measured === undefined)
  .map(({ venue }) => venue.id);
const parts = partsOfSuite();
if (values.last !== true) {
  if (values.only === undefined) rmSync(RUNS, { recursive: true, force: true });
  await runParts(
    parts.filter(({ name }) => name.includes(values.only ?? "")),
    Number(values.jobs),
  );
}
const { runs, skipped, failed, absent } = readRuns(parts.map(({ name }) => name));
process.stdout.write(`${table([HEADER, ...venues.map(({ id }) => rowOf(id))])}\n`);
process.stdout.write(`\nBy build:\n${table([BUILD_HEADER, ...venues.flatMap(({ id }) => buildRowsOf(id))])}\n`);
const total = sum(runs, ({ executed }) => executed);
const builds = new Set(runs.map(({ build }) => build).filter((build) => build !== "")).size;
const p99 = unitRatioAt(runs, 0.99);
const mismatches = sum(runs, (run) => run.mismatches);
process.stdout.write(
  `\nIn all: ${total} trades on ${builds} builds, ${mismatches} mismatches; ` +
    `bound/used: p50 ${unitRatioAt(runs, 0.5).toFixed(2)}, p99 ${p99.toFixed(2)}, least ${unitRatioAt(runs, 0).toFixed(2)}; ` +
    `memory of a process, most: ${Math.max(0, ...runs.map(({ peakMib }) => peakMib))} MiB\n`,
);

const notes = venues.flatMap(({ id }) => {
  if (WITHOUT_PROGRAM.includes(id)) return [];
  const trades = sum(
    runs.filter(({ venue }) => venue === id),
    ({ executed }) => executed,
  );
  return trades >= LEAST_TRADES ? [] : [`${id}: ${trades} trades, fewer than ${LEAST_TRADES}`];
});
if (total < LEAST_IN_ALL) notes.push(`${total} trades in all, fewer than ${LEAST_IN_ALL}`);
if (builds < LEAST_BUILDS) notes.push(`${builds} builds, fewer than ${LEAST_BUILDS}`);
if (p99 > MOST_UNIT_RATIO) notes.push(`bound/used at the 99th percentile is ${p99}, above ${MOST_UNIT_RATIO}`);
print(`Skipped, for want of what the title names: ${skipped.length === 0 ? "nothing" : ""}`, skipped);
if (failed.length > 0) print("Failed:", failed);
if (absent.length > 0) print("Not run, neither then nor since:", absent);
print("No public program to run on, proven on the embedded chain only:", [...WITHOUT_PROGRAM]);
if (notes.length > 0) print("Missing:", notes);
const isShort = values.last !== true && absent.length > 0;
process.exitCode = failed.length + notes.length + mismatches > 0 || isShort ? 1 : 0;

/** A row for each copy of a venue's program that its runs loaded. */
function buildRowsOf(venue: string): string[][] {
  const own = runs.filter((run) => run.venue === venue);
  return [...new Set(own.map(({ build }) => build))].sort().map((build) => {
    const made = own.filter((run) => run.build === build);
    return [
      venue,
      build === "" ? "a stand-in" : build,
      String(sum(made, ({ executed }) => executed)),
      String(sum(made, (run) => run.mismatches)),
      unitRatioAt(made, 0).toFixed(2),
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
    String(sum(own, (run) => run.mismatches)),
    String(sum(own, ({ refused }) => refused)),
    String(own.filter(({ asked }) => asked >= SEQUENCE).length),
    `${sum(own, ({ guardsHeld }) => guardsHeld)} of ${sum(own, ({ guards }) => guards)}`,
    String(most(({ maxUnits }) => maxUnits)),
    most(({ worstUnitRatio }) => worstUnitRatio).toFixed(2),
    String(most(({ maxBytes }) => maxBytes)),
    String(new Set(own.map(({ build }) => build)).size),
  ];
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
