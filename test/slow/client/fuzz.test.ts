import { expect, test } from "vitest";
import { type FuzzReport, fuzz } from "./fuzz-run.ts";
import { runInParts } from "./in-parts.ts";
import { WORLD_NAMES } from "./program-worlds.ts";

/** How many mutants there are; the whole measure is 1 000 000, run by `npm run slow:client`. */
const COUNT = Number(process.env.MUTANTS ?? 500);
const SEED = Number(process.env.MUTANT_SEED ?? 1);
/** Mutants of one process. */
const PART = 125_000;
/** Honest builds of each world, every one of them changed many times. */
const BUILDS_PER_WORLD = 10;
async function fuzzInParts(): Promise<readonly FuzzReport[]> {
  if (COUNT <= PART) return [await fuzz(SEED, COUNT, COUNT < 10_000 ? 2 : BUILDS_PER_WORLD)];
  const seeds = Array.from({ length: Math.ceil(COUNT / PART) }, (_, index) => SEED + index);
  return runInParts<FuzzReport>("fuzz-run.ts", seeds, [PART, BUILDS_PER_WORLD], (seed, { mutants, bad }) => {
    process.stdout.write(`seed ${seed}: ${mutants} mutants, ${bad.length} worse\n`);
  });
}

test("no accepted mutant, executed on the programs, leaves the wallet worse than the order promised", {
  timeout: 7_200_000,
}, async () => {
  const reports = await fuzzInParts();
  const sum = (of: "mutants" | "builds" | "accepted" | "executed" | "ways") =>
    reports.reduce((total, report) => total + report[of], 0);
  expect(reports.flatMap(({ bad }) => bad).slice(0, 3)).toEqual([]);
  expect(sum("mutants")).toBeGreaterThanOrEqual(COUNT);
  expect(sum("executed")).toBeGreaterThan(COUNT / 50);
  process.stdout.write(
    `${sum("mutants")} mutants of ${sum("builds")} builds in ${WORLD_NAMES.length} worlds: ${sum("accepted")} accepted, ${sum("executed")} of them execute, in ${sum("ways")} ways: 0 worse\n`,
  );
});
