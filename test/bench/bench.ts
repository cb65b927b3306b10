/**
 * The figures of the project in processor time, as ratios to yardsticks of the same run: prices and warm builds against SHA-256 of
 * 1 KiB, calls on every wire against bare servers, submits by the nodes' calls and against buys. `npm run bench` measures all;
 * `-- --venues`, `--builds`, `--wires`, `--submits`, `--cold`, `--live` and `--scale` a part; `-- --compare REV [--loss 5]` an earlier revision and the working tree in turn, and fails if a figure has become slower
 * by more than so many percent.
 */
import { parseArgs } from "node:util";
import { buildRows } from "./builds-bench.ts";
import { compareWith } from "./compare.ts";
import { liveRows } from "./live/live-bench.ts";
import { machineLoad, micros, referenceMicros, table } from "./measure.ts";
import { claimRows } from "./submit/claims-bench.ts";
import { coldRows } from "./submit/cold-bench.ts";
import { scaleRows } from "./submit/scale-bench.ts";
import { startRows } from "./submit/start-bench.ts";
import { submitRows } from "./submit/submit-bench.ts";
import { UNMEASURED } from "./unmeasured.ts";
import { type BenchRow, benchVenues } from "./venues.ts";
import { wireRows } from "./wires/wires-bench.ts";

const { values } = parseArgs({
  options: {
    venues: { type: "boolean", default: false },
    builds: { type: "boolean", default: false },
    wires: { type: "boolean", default: false },
    submits: { type: "boolean", default: false },
    cold: { type: "boolean", default: false },
    live: { type: "boolean", default: false },
    scale: { type: "boolean", default: false },
    compare: { type: "string" },
    loss: { type: "string", default: "5" },
  },
});
const loadBefore = machineLoad();
if (values.compare !== undefined) {
  const { rows, holds } = await compareWith(values.compare, Number(values.loss) / 100);
  show([["figure", `${values.compare} → working tree`, "loss", ""], ...rows]);
  process.exit(holds ? 0 : 1);
}
const PARTS = ["venues", "builds", "wires", "submits", "cold", "live", "scale"] as const;
const all = PARTS.every((part) => !values[part]);
const root = process.cwd();
const reference = referenceMicros();
const rows: BenchRow[] = [
  ["figure", "processor time", "ratio", "wanted"],
  ["SHA-256 of 1 KiB", micros(reference), "1", ""],
];
if (all || values.venues) rows.push(...benchVenues(reference));
if (all || values.builds) rows.push(...(await buildRows(root)));
if (all || values.wires) rows.push(...(await wireRows(root)));
if (all || values.submits) rows.push(...(await claimRows()), ...(await submitRows(root)));
if (all || values.cold) rows.push(...(await coldRows(root)), ...(await startRows(root)));
if (all || values.live) rows.push(...(await liveRows()));
if (all || values.scale) rows.push(...(await scaleRows(root)));
show(rows);
if (all) process.stdout.write(`\n${table([["not measured here", "why, or where it is"], ...UNMEASURED])}\n`);
process.exit();

function show(lines: readonly BenchRow[]): void {
  process.stdout.write(`${table(lines)}\nBefore: ${loadBefore}\nAfter:  ${machineLoad()}\n`);
}
