// Puts the promises of the service to the test, on an embedded chain behind nodes that fail and lie.
import { fork } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createRandom } from "../../../src/primitives/random.ts";
import { readOptions } from "../options.ts";
import type { Measure, Scenario, Schedule } from "./scenario.ts";
import { SCENARIOS } from "./scenarios.ts";
import type { ScheduleOrder } from "./schedule-process.ts";

interface Result extends Measure {
  readonly scenario: Scenario;
  readonly seed: number;
  readonly seconds: number;
}

const HELP = `Puts the promises of the service to the test, on an embedded chain behind nodes that fail and lie. Prints a table of promise, target and
measure. Exits 1 if a target is missed or an invariant is broken.

  npm run slow:faults -- [options]

  --rows 1,9,13     only these rows of docs/promises.md
  --seed 7          what the schedules are drawn from, or "random"; default 1
  --scale 1         size of each schedule; default 1 (npm run slow:soak: 4)
  --full            what has a promised size runs at that size, the rest at the scale given
  --schedules N     so many schedules, drawn from the seed among the rows, instead of each row once
  --parallel N      schedules at a time, each in a process of its own; default 1, which targets in milliseconds need
  --help            this text
`;

const { values } = readOptions(HELP, {
  options: {
    rows: { type: "string" },
    seed: { type: "string", default: "1" },
    scale: { type: "string", default: "1" },
    full: { type: "boolean", default: false },
    schedules: { type: "string" },
    parallel: { type: "string", default: "1" },
  },
});
const seed = values.seed === "random" ? randomInt(1_000_000) : Number(values.seed);
const scale = Number(values.scale);
const parallel = Number(values.parallel);
const rows = values.rows?.split(",").map(Number);
const chosen = SCENARIOS.filter(({ row }) => rows === undefined || rows.includes(row));
if (chosen.length === 0 || !Number.isInteger(seed) || !(scale >= 1) || !(parallel >= 1)) {
  process.stderr.write(
    "Nothing to run: give --rows of the table, an integer --seed and a --scale and --parallel of 1 or more.\n",
  );
  process.exit(2);
}

process.stdout.write(`Seed ${seed}.\n`);
const results: Result[] = [];
const planned = [...schedules()];
await Promise.all(
  Array.from({ length: Math.min(parallel, planned.length) }, async () => {
    for (let next = planned.shift(); next !== undefined; next = planned.shift()) await run(next.scenario, next);
  }),
);
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

/** What is to be run, in its order. */
function* schedules(): Generator<Schedule & { readonly scenario: Scenario }> {
  if (values.schedules !== undefined) {
    const random = createRandom(seed);
    for (let i = 0; i < Number(values.schedules); i++)
      yield { scenario: random.pick(chosen), seed: random.u32() % 1_000_000, scale };
    return;
  }
  for (const scenario of chosen) {
    const size = (values.full ? scenario.promised : undefined) ?? { scale, runs: 1 };
    for (let i = 0; i < size.runs; i++) yield { scenario, seed: seed + i, scale: size.scale };
  }
}

async function run(scenario: Scenario, { seed: at, scale: size }: Schedule): Promise<void> {
  const startedAtMs = Date.now();
  const measure = await measured({ place: SCENARIOS.indexOf(scenario), seed: at, scale: size });
  const seconds = (Date.now() - startedAtMs) / 1_000;
  results.push({ ...measure, scenario, seed: at, seconds });
  const verdict = measure.broken.length === 0 ? "holds" : "BROKEN";
  process.stdout.write(
    `${scenario.row}. ${scenario.promise} (seed ${at}) … ${verdict} (${seconds.toFixed(1)} s): ${measure.measured}\n`,
  );
  for (const what of measure.broken) process.stdout.write(`     seed ${at}: ${what}\n`);
}

/** Runs a schedule in a process of its own: what it held is given back, and no other waits for its loop. */
async function measured(order: ScheduleOrder): Promise<Measure> {
  const child = fork(fileURLToPath(new URL("./schedule-process.ts", import.meta.url)));
  child.send(order);
  const ended = once(child, "exit").then(([code, signal]): [Measure] => [
    { measured: "stopped", broken: [`its process ended (${code ?? signal})`] },
  ]);
  const [measure] = (await Promise.race([once(child, "message"), ended])) as [Measure];
  await ended;
  return measure;
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
