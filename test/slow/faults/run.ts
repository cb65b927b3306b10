/**
 * Puts the promises of the service to the test, on an embedded chain behind nodes that fail and lie.
 *
 * Rows are those of docs/promises.md.
 *
 *   node test/slow/faults/run.ts [--rows 1,9,13] [--seed 7 | random] [--scale 1 | --full] [--schedules N]
 *
 * `--full` runs what has a promised size at that size; the rest at the scale given.
 * Prints a table of promise, target and measure. Exits 1 when a target is missed or an invariant is broken.
 */
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { createRandom } from "../../../src/primitives/random.ts";
import { CLOCK_SCENARIOS } from "./clock-scenarios.ts";
import { DATABASE_SCENARIOS } from "./database-scenarios.ts";
import { DIAGNOSIS_SCENARIOS } from "./diagnosis-scenarios.ts";
import { NODE_SCENARIOS } from "./node-scenarios.ts";
import { OUTCOME_SCENARIOS } from "./outcome-scenarios.ts";
import { PRICE_SCENARIOS } from "./price-scenarios.ts";
import type { Measure, Scenario } from "./scenario.ts";
import { STATE_SCENARIOS } from "./state-scenarios.ts";
import { STREAM_SCENARIOS } from "./stream-scenarios.ts";
import { SUBMIT_SCENARIOS } from "./submit-scenarios.ts";

const SCENARIOS = [
  ...OUTCOME_SCENARIOS,
  ...SUBMIT_SCENARIOS,
  ...DATABASE_SCENARIOS,
  ...DIAGNOSIS_SCENARIOS,
  ...NODE_SCENARIOS,
  ...STATE_SCENARIOS,
  ...PRICE_SCENARIOS,
  ...STREAM_SCENARIOS,
  ...CLOCK_SCENARIOS,
].sort((a, b) => a.row - b.row);

interface Result extends Measure {
  readonly scenario: Scenario;
  readonly seed: number;
  readonly seconds: number;
}

const { values } = parseArgs({
  options: {
    rows: { type: "string" },
    seed: { type: "string", default: "1" },
    scale: { type: "string", default: "1" },
    full: { type: "boolean", default: false },
    schedules: { type: "string" },
  },
});
const seed = values.seed === "random" ? randomInt(1_000_000) : Number(values.seed);
const scale = Number(values.scale);
const rows = values.rows?.split(",").map(Number);
const chosen = SCENARIOS.filter(({ row }) => rows === undefined || rows.includes(row));
if (chosen.length === 0 || !Number.isInteger(seed) || !(scale >= 1)) {
  process.stderr.write("Nothing to run: give --rows of the table, an integer --seed and a --scale of 1 or more.\n");
  process.exit(2);
}

process.stdout.write(`Seed ${seed}.\n`);
const results: Result[] = [];
if (values.schedules === undefined) {
  for (const scenario of chosen) {
    const size = (values.full ? scenario.promised : undefined) ?? { scale, runs: 1 };
    for (let i = 0; i < size.runs; i++) await run(scenario, seed + i, size.scale);
  }
} else {
  const random = createRandom(seed);
  for (let i = 0; i < Number(values.schedules); i++) await run(random.pick(chosen), random.u32() % 1_000_000, scale);
}
process.stdout.write(`\n${table(results)}\n`);
const failed = results.filter(({ broken }) => broken.length > 0);
process.stdout.write(
  failed.length === 0
    ? `\nAll ${results.length} schedules held.\n`
    : `\n${failed.length} of ${results.length} schedules broke a promise:\n${failed
        .flatMap(({ scenario, seed: at, broken }) =>
          broken.map((what) => `  ${scenario.row} (--rows ${scenario.row} --seed ${at}): ${what}`),
        )
        .join("\n")}\n`,
);
process.exit(failed.length === 0 ? 0 : 1);

async function run(scenario: Scenario, at: number, size: number): Promise<void> {
  const startedAtMs = Date.now();
  process.stdout.write(`${scenario.row}. ${scenario.promise} … `);
  const measure = await scenario.run({ seed: at, scale: size }).catch(
    (error: unknown): Measure => ({
      measured: "stopped",
      broken: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
    }),
  );
  const seconds = (Date.now() - startedAtMs) / 1_000;
  results.push({ ...measure, scenario, seed: at, seconds });
  const verdict = measure.broken.length === 0 ? "holds" : "BROKEN";
  process.stdout.write(`${verdict} (${seconds.toFixed(1)} s): ${measure.measured}\n`);
  for (const what of measure.broken) process.stdout.write(`     seed ${at}: ${what}\n`);
}

function table(all: readonly Result[]): string {
  const lines = [
    ["row", "promise", "target", "measured", "seconds", ""],
    ...all.map(({ scenario, measured, broken, seconds }) => [
      `${scenario.row}`,
      scenario.promise,
      scenario.target,
      measured,
      seconds.toFixed(1),
      broken.length === 0 ? "holds" : "BROKEN",
    ]),
  ];
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
