import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { type FuzzReport, fuzz } from "./fuzz-run.ts";
import { WORLD_NAMES } from "./program-worlds.ts";

/** How many mutants there are; the whole measure is 1 000 000, run by `npm run slow:client`. */
const COUNT = Number(process.env.MUTANTS ?? 500);
const SEED = Number(process.env.MUTANT_SEED ?? 1);
/** Mutants of one process: programs that ran millions of times keep memory, which ends with their process. */
const PART = 125_000;
const PROCESSES = 2;
/** Honest builds of each world, every one of them changed many times. */
const BUILDS_PER_WORLD = 10;
/** Bounds the memory of a process. MiB. */
const MOST_HEAP = 1_024;

/** A part of the whole run in a process of its own. */
async function fuzzApart(seed: number, count: number): Promise<FuzzReport> {
  const run = fileURLToPath(new URL("fuzz-run.ts", import.meta.url));
  const terms = [seed, count, BUILDS_PER_WORLD].map(String);
  const { stdout } = await promisify(execFile)(process.execPath, [`--max-old-space-size=${MOST_HEAP}`, run, ...terms], {
    maxBuffer: 1 << 26,
  });
  return JSON.parse(stdout);
}

async function fuzzInParts(): Promise<readonly FuzzReport[]> {
  if (COUNT <= PART) return [await fuzz(SEED, COUNT, COUNT < 10_000 ? 2 : BUILDS_PER_WORLD)];
  const parts = Array.from({ length: Math.ceil(COUNT / PART) }, (_, index) => SEED + index);
  const reports: FuzzReport[] = [];
  const work = async () => {
    for (let seed = parts.shift(); seed !== undefined; seed = parts.shift()) {
      reports.push(await fuzzApart(seed, PART));
      process.stdout.write(`seed ${seed}: ${reports.length * PART} mutants\n`);
    }
  };
  await Promise.all(Array.from({ length: PROCESSES }, work));
  return reports;
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
