import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { allBuildsOf } from "../support/builds.ts";

/** What one process runs: a test file, on one build if the file runs several. */
export interface Part {
  readonly name: string;
  readonly file: string;
  /** Path of the build; undefined for a file that chooses its own. */
  readonly build: string | undefined;
}

const TESTS = "test/slow/venues";
export const RUNS = ".venues/runs";
export const RESULTS = "results.json";
/** Private memory that each process of a part may write to, V8's own included: it ends beyond. KiB. */
const MEMORY_KIB = 3_000_000;

/** Every part of the suite. The builds of a venue follow one another, the one that its tests are written for first. */
export function partsOfSuite(): readonly Part[] {
  return readdirSync(TESTS)
    .filter((file) => file.endsWith(".test.ts"))
    .sort()
    .flatMap((file): readonly Part[] => {
      const name = basename(file, ".test.ts");
      const builds = allBuildsOf(name.replaceAll("-", "_"));
      if (builds.length === 0) return [{ name, file, build: undefined }];
      return builds.map(({ path }) => ({ name: `${name}@${basename(path, ".so")}`, file, build: path }));
    });
}

/** Runs parts, each in a process of its own, at most `jobs` at a time. Their results replace those of an earlier run. */
export async function runParts(parts: readonly Part[], jobs: number): Promise<void> {
  const waiting = [...parts];
  await Promise.all(
    Array.from({ length: jobs }, async () => {
      for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
        const beganMs = Date.now();
        const code = await runPart(part);
        const seconds = Math.round((Date.now() - beganMs) / 1000);
        process.stderr.write(`${part.name}: ${code === 0 ? "passed" : `exit ${code}`}, ${seconds} s\n`);
      }
    }),
  );
}

async function runPart({ name, file, build }: Part): Promise<number | null> {
  const folder = join(RUNS, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--project", "venues", join(TESTS, file)];
  const written = ["--reporter=json", `--outputFile=${join(folder, RESULTS)}`];
  const child = spawn(
    "sh",
    ["-c", `ulimit -d ${MEMORY_KIB}; exec "$@"`, "sh", process.execPath, ...vitest, ...written],
    {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, VENUE_RUNS: folder, ...(build === undefined ? {} : { VENUE_BUILD: build }) },
    },
  );
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
}
