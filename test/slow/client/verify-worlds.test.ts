import { expect, test } from "vitest";
import { runInParts } from "./in-parts.ts";
import { ABSENT_WORLDS, WORLD_NAMES } from "./program-worlds.ts";
import { checkWorlds, type WorldsReport } from "./worlds-run.ts";

/** How many honest builds have to be accepted; the whole measure is 20,000, run by `npm run slow:client`. */
const COUNT = Number(process.env.WORLD_BUILDS ?? 4 * WORLD_NAMES.length);
const SEED = Number(process.env.WORLD_SEED ?? 20_000);
/** Builds of one process. */
const PART = 2_624;
if (ABSENT_WORLDS.length > 0) console.log(`without their programs, not traded on: ${ABSENT_WORLDS.join("; ")}`);

async function reports(): Promise<readonly WorldsReport[]> {
  if (COUNT <= PART) return [await checkWorlds(SEED, COUNT)];
  const seeds = Array.from({ length: Math.ceil(COUNT / PART) }, (_, index) => SEED + index);
  return runInParts<WorldsReport>("worlds-run.ts", seeds, [PART], (seed, { builds, faults }) => {
    process.stdout.write(`seed ${seed}: ${builds} honest builds, ${faults.length} refused or worse than promised\n`);
  });
}

test("honest builds on every program and shape of pool are accepted, and execute as ordered", {
  timeout: 7_200_000,
}, async () => {
  const accepted = new Map<string, number>();
  const faults: string[] = [];
  let builds = 0;
  for (const report of await reports()) {
    builds += report.builds;
    faults.push(...report.faults);
    for (const [kind, count] of Object.entries(report.accepted)) accepted.set(kind, (accepted.get(kind) ?? 0) + count);
  }
  const kinds = JSON.stringify(Object.fromEntries([...accepted].sort()));
  process.stdout.write(
    `${builds} honest builds, ${faults.length} refused or worse than promised. Accepted: ${kinds}\n`,
  );
  expect(faults.slice(0, 5)).toEqual([]);
  for (const name of WORLD_NAMES) expect(accepted.get(`${name} exactIn`), name).toBeGreaterThan(0);
});
