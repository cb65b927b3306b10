// Runs the fast tests again and again beside processes that never rest.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { readOptions } from "../options.ts";

/** The part of vitest's JSON results that is read here. */
interface TestResults {
  readonly numTotalTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** As much of a failure's text as is printed. */
const MESSAGE_CHARS = 2_000;

const HELP = `Shows that the fast tests hold on a busy machine: runs them again and again beside processes that never rest, and prints one line a run.
Exits 1 if any run fails.

  npm run slow:busy -- [options] [test files, in place of all]

  --runs 10         runs of the tests; default 10
  --busy 8          processes that never rest; default 8
  --help            this text
`;

const { values, positionals: files } = readOptions(HELP, {
  options: { runs: { type: "string", default: "10" }, busy: { type: "string", default: "8" } },
  allowPositionals: true,
});
const runs = Number(values.runs);
const busy = Number(values.busy);
const root = join(import.meta.dirname, "../../..");

const others: ChildProcess[] = Array.from({ length: busy }, () =>
  spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }),
);
const stop = () => {
  for (const other of others) other.kill("SIGKILL");
};
process.on("exit", stop);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));

let green = 0;
const folder = mkdtempSync(join(tmpdir(), "tradewire-busy-"));
try {
  for (let run = 1; run <= runs; run++) {
    const startedMs = performance.now();
    const { failures, total, exit } = runTests(join(folder, `${run}.json`));
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    const isGreen = exit === 0 && failures.length === 0;
    if (isGreen) green += 1;
    const verdict = isGreen ? "green" : `${failures.length} failed, exit ${exit}`;
    say(`run ${run} of ${runs}: ${verdict}, ${total} tests, ${seconds} s, load ${loadavg()[0]!.toFixed(1)}`);
    for (const failure of failures) say(`  ${failure}`);
  }
} finally {
  stop();
  rmSync(folder, { recursive: true, force: true });
}
say(`${green} of ${runs} runs green beside ${busy} busy processes on ${cpus().length} cores`);
process.exitCode = green === runs ? 0 : 1;

/** One run of the tests: what failed, by file and title, and how. */
function runTests(resultsFile: string): { failures: string[]; total: number; exit: number | null } {
  const { status } = spawnSync(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "run", ...files, "--reporter=json", `--outputFile=${resultsFile}`],
    { cwd: root, stdio: ["ignore", "ignore", "inherit"] },
  );
  const results = JSON.parse(readFileSync(resultsFile, "utf8")) as TestResults;
  const failures = results.testResults.flatMap(({ name, status, assertionResults }) => {
    const titles = assertionResults
      .filter((one) => one.status === "failed")
      .map(({ fullName, failureMessages }) => `${fullName}\n    ${failureMessages.join("\n").slice(0, MESSAGE_CHARS)}`);
    if (status === "failed" && titles.length === 0) titles.push("the file itself");
    return titles.map((title) => `${relative(root, name)}: ${title}`);
  });
  return { failures, total: results.numTotalTests, exit: status };
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
