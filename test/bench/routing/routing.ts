/**
 * The router against an independent judge in seeded random worlds: `npm run bench:routing`, with `-- --asks N --seed S`.
 * Prints, by size of the trade, the share of the attainable gain over the best single path that the router reaches, and ends
 * with an error if a promise of docs/promises.md, row 57, is broken. Every few hundred asks run in a process of their own, with
 * bounded memory.
 */
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { createRandom } from "../../../src/primitives/random.ts";
import { MOST_PATHS } from "../../../src/trade/quote/route-bounds.ts";
import { FORMS, type Form, fitOf } from "./fit.ts";
import { judge } from "./judge.ts";
import { askOf, routesFor } from "./routed.ts";
import { drawWorld } from "./worlds.ts";

const { values } = parseArgs({
  options: {
    asks: { type: "string", default: "2000" },
    seed: { type: "string", default: "57" },
    part: { type: "boolean", default: false },
  },
});
/** Parts of the deepest market's reserve. */
const SIZES = [0.001, 0.01, 0.05, 0.2] as const;
const PROMISED = 0.995;
const ASKS_OF_A_PART = 250;

/** Of one size: asks, sums of outputs as shares of the best single path, and asks below it or refused. */
interface Tally {
  asks: number;
  ours: number;
  best: number;
  /** What the best of both gives within the network's limits. */
  fitting: number;
  bound: number;
  worse: number;
  refused: number;
  micros: number;
  /** Best routes that fit into each kind of transaction, and the gain of the best that does. */
  fits: Record<Form, number>;
  kept: Record<Form, number>;
  /** Asks in which what fits gives at least these parts of what the best route gives. */
  nearly: Record<Form, number>;
  closely: Record<Form, number>;
  /** Best routes of a single path that fit. */
  singles: Record<Form, number>;
}

const COUNTS = ["asks", "ours", "best", "fitting", "bound", "worse", "refused", "micros"] as const;
const FORM_COUNTS = ["fits", "kept", "nearly", "closely", "singles"] as const;
const CLOSELY = 0.9999;
const NEARLY = 0.999;
const noForms = (): Record<Form, number> => ({ plain: 0, tables: 0, v1: 0 });
const noTallies = (): Tally[] =>
  SIZES.map(() => ({
    asks: 0,
    ours: 0,
    best: 0,
    fitting: 0,
    bound: 0,
    worse: 0,
    refused: 0,
    micros: 0,
    fits: noForms(),
    kept: noForms(),
    nearly: noForms(),
    closely: noForms(),
    singles: noForms(),
  }));

if (values.part) process.stdout.write(JSON.stringify(runPart(Number(values.asks), Number(values.seed))));
else runParts(Number(values.asks), Number(values.seed));

function runParts(asks: number, seed: number): void {
  const sums = noTallies();
  for (let part = 0; part * ASKS_OF_A_PART < asks; part++) {
    const some = Math.min(ASKS_OF_A_PART, asks - part * ASKS_OF_A_PART);
    const args = [import.meta.filename, "--part", "--asks", `${some}`, "--seed", `${seed + part}`];
    const done = spawnSync(process.execPath, ["--max-old-space-size=512", ...args], { encoding: "utf8" });
    if (done.status !== 0) throw new Error(`seed ${seed + part} failed\n${done.stderr}`);
    for (const [index, tally] of (JSON.parse(done.stdout) as Tally[]).entries()) {
      const sum = sums[index]!;
      for (const key of COUNTS) sum[key] += tally[key];
      for (const key of FORM_COUNTS) for (const form of FORMS) sum[key][form] += tally[key][form];
    }
  }
  report(sums);
}

function runPart(asks: number, seed: number): readonly Tally[] {
  const random = createRandom(seed);
  const tallies = noTallies();
  for (let made = 0; made < asks; ) {
    const world = drawWorld(random);
    for (const [index, size] of SIZES.entries()) {
      const amount = BigInt(Math.floor(Number(world.depth) * size * (0.5 + random.u32() / 2 ** 32)));
      const { single, best, fitting, bound } = judge(world, amount, MOST_PATHS);
      if (single === 0) continue;
      made++;
      const tally = tallies[index]!;
      tally.asks++;
      const started = performance.now();
      const asked = askOf(world, amount);
      const routes = routesFor(asked, world);
      tally.micros += (performance.now() - started) * 1_000;
      const [route] = routes.routes;
      if (route === undefined) {
        tally.refused++;
        continue;
      }
      const ours = Number(route.outAmount);
      const fit = fitOf(world, asked, routes);
      for (const form of FORMS) {
        const { fits, singleFits, outAmount } = fit[form];
        if (fits) tally.fits[form]++;
        if (singleFits) tally.singles[form]++;
        if (outAmount >= ours * CLOSELY) tally.closely[form]++;
        if (outAmount >= ours * NEARLY) tally.nearly[form]++;
        tally.kept[form] += outAmount / single - 1;
      }
      tally.fitting += Math.max(fitting, fit.v1.outAmount) / single - 1;
      if (ours < single) tally.worse++;
      // By share of each trade, so that no ask counts more than another.
      tally.ours += ours / single - 1;
      tally.best += Math.max(best, ours) / single - 1;
      tally.bound += Math.max(bound, ours) / single - 1;
    }
  }
  return tallies;
}

function report(tallies: readonly Tally[]): void {
  let broken = 0;
  process.stdout.write("size   asks  mean gain  of attainable  of no limit  below single  refused  mean time\n");
  for (const [index, { asks, ours, best, bound, worse, refused, micros }] of tallies.entries()) {
    const shareOf = (all: number) => (all === 0 ? 1 : ours / all);
    if (shareOf(best) < PROMISED || worse > 0 || refused > 0) broken++;
    const percent = (part: number) => `${(part * 100).toFixed(3)} %`;
    const name = `${SIZES[index]! * 100} %`;
    process.stdout.write(
      `${name.padEnd(6)} ${String(asks).padEnd(5)} ${percent(ours / asks).padEnd(10)} ${percent(shareOf(best)).padEnd(14)} ${percent(shareOf(bound)).padEnd(12)} ${String(worse).padEnd(13)} ${String(refused).padEnd(8)} ${(micros / asks).toFixed(0)} µs\n`,
    );
  }
  reportFits(tallies);
  if (broken > 0) process.stdout.write(`${broken} of ${SIZES.length} sizes miss what row 57 promises\n`);
  process.exitCode = broken > 0 ? 1 : 0;
}

/**
 * How many of the best routes fit into a transaction as they are, and how much of the gain is left where only a lighter one does. Then
 * beside that: in how many asks what fits gives nearly as much, and how many of the best single paths fit.
 */
function reportFits(tallies: readonly Tally[]): void {
  const percent = (part: number, all: number) => `${((all === 0 ? 1 : part / all) * 100).toFixed(1)} %`;
  const line = (title: string, cells: readonly string[]) =>
    process.stdout.write(`${title.padEnd(40)}  ${cells.map((cell) => cell.padEnd(23)).join("  ")}\n`);
  const nameOf = (index: number) => `trades of ${SIZES[index]! * 100} %`;
  process.stdout.write("\n");
  line("best routes that fit, and the gain kept", ["version 0", "with tables", "version 1", "of attainable"]);
  for (const [index, { asks, refused, ours, fitting, fits, kept }] of tallies.entries()) {
    const cells = FORMS.map((form) => `${percent(fits[form], asks - refused)}, ${percent(kept[form], ours)}`);
    line(nameOf(index), [...cells, percent(kept.v1, fitting)]);
  }
  process.stdout.write("\n");
  line("what fits gives >= 99.99 %, >= 99.9 %;", []);
  line("best single paths that fit", ["version 0", "with tables", "version 1"]);
  for (const [index, { asks, refused, nearly, closely, singles }] of tallies.entries()) {
    const share = (of: Record<Form, number>, form: Form) => percent(of[form], asks - refused);
    const cells = FORMS.map((form) => `${share(closely, form)}, ${share(nearly, form)}; ${share(singles, form)}`);
    line(nameOf(index), cells);
  }
}
