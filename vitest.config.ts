import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { LongestFirst } from "./test/support/longest-first.ts";

// Who is called is on this machine: grpc-js would ask a proxy that is there for the registry.
process.env.no_proxy = "127.0.0.1,localhost";

/** No test waits for time to pass: these bounds only end one that hangs, on however busy a machine. */
const PATIENCE = { testTimeout: 600_000, hookTimeout: 600_000, expect: { poll: { timeout: 300_000, interval: 10 } } };

/** More than cores: most tests wait for the embedded chain's slots. */
const WORKERS = Math.ceil(2.5 * availableParallelism());

const SLOW_SUITES = "test/slow/{browser,diagnosis,edge,money,operations,units,upgrade,validator,venues}/**";
const shared: TestProjectInlineConfiguration["test"] = {
  ...PATIENCE,
  maxWorkers: WORKERS,
  maxConcurrency: 3,
  // Collectors of several processes that work on all cores at once cost each other more than they save.
  execArgv: ["--single-threaded-gc", "--max-semi-space-size=64"],
};

/** Files that hold the clock, among themselves: what another left running in their process would stop with it, and be counted. */
const holdingTheClock = testFilesWith(/useFakeTimers|submit-world\.ts/);
const clocks: TestProjectInlineConfiguration = {
  test: { ...shared, name: "clocks", include: holdingTheClock, isolate: false },
};

const tests: TestProjectInlineConfiguration = {
  test: {
    ...shared,
    name: "tests",
    globalSetup: ["test/support/temp-folder.ts"],
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    exclude: [SLOW_SUITES, "test/oracles/**", "**/node_modules/**", ...holdingTheClock],
    // Files share a process and what it has imported: half the processor time of the whole.
    isolate: false,
  },
};

/** Test files in `src` whose text matches. */
function testFilesWith(pattern: RegExp): string[] {
  const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".test.ts"));
  return files.map((path) => join("src", path)).filter((path) => pattern.test(readFileSync(path, "utf8")));
}

/** For suites whose trades run on real programs. */
const DEPLOYED_PROGRAMS = "test/slow/deployed-programs.ts";
const EDGE_OUTCOMES = ["test/slow/edge/{accounts,fuzz,http2-floods,processes,rolling,tokens-and-signatures}.test.ts"];
const edge: TestProjectInlineConfiguration["test"] = {
  globalSetup: ["test/support/temp-folder.ts", "test/slow/edge/table.ts"],
  hookTimeout: 300_000,
};

const slowSuites = [
  slow("browser", 10),
  slow("client", 60, {
    include: ["test/slow/client/**/*.{test,slow}.ts", "test/integration/client-*.test.ts"],
    env: {
      HONEST_BUILDS: "14000",
      WORLD_BUILDS: "20000",
      CONVERSATIONS: "10000",
      MUTANTS: "1000000",
      BYTE_STRINGS: "200000",
    },
    setupFiles: [DEPLOYED_PROGRAMS],
    hookTimeout: 300_000,
    execArgv: ["--max-old-space-size=1024"],
  }),
  slow("diagnosis", 10, { globalSetup: [] }),
  // Rows judged by outcomes or processor time, three files at once; then those judged by the clock, one after another.
  slow("edge", 4, {
    ...edge,
    include: EDGE_OUTCOMES,
    fileParallelism: true,
    maxWorkers: 3,
    sequence: { groupOrder: 1 },
  }),
  slow("edge-timed", 4, {
    ...edge,
    exclude: EDGE_OUTCOMES,
    include: ["test/slow/edge/*.test.ts"],
    sequence: { groupOrder: 2 },
  }),
  slow("exhaustive", 20, {
    include: [
      "test/conformance/{conformance,cpmm-creator-fees,many-markets,toy-venue}.test.ts",
      "test/integration/{accounts,broken-answers,client-percent-sells,every-pair,exact-costs,refused-methods,same-by-every-way}.test.ts",
      "test/docs/{release,snippets}.test.ts",
      "src/chain/state/compare/lying-stream.test.ts",
      "src/chain/state/forking-chain.test.ts",
      "src/trade/submit/drawn-submits.test.ts",
    ],
    env: { EXHAUSTIVE: "1" },
    // The same files as among the fast tests, so as patient as they are.
    expect: PATIENCE.expect,
  }),
  slow("money", 10, {
    setupFiles: [DEPLOYED_PROGRAMS, "test/slow/venues/support/bounded-memory.ts"],
    execArgv: ["--expose-gc"],
  }),
  slow("operations", 3),
  slow("units", 10, {
    setupFiles: [DEPLOYED_PROGRAMS, "test/slow/venues/support/bounded-memory.ts"],
    execArgv: ["--expose-gc"],
  }),
  slow("upgrade", 2),
  slow("validator", 10, {
    globalSetup: ["test/support/temp-folder.ts", "test/slow/validator/table.ts"],
    hookTimeout: 300_000,
  }),
  slow("venues", 10, {
    fileParallelism: true,
    maxWorkers: 2,
    env: { VENUE_RUNS: process.env.VENUE_RUNS ?? ".venues/runs" },
    setupFiles: [DEPLOYED_PROGRAMS, "test/slow/venues/support/bounded-memory.ts"],
    execArgv: ["--expose-gc"],
  }),
];

/** The suite in `test/slow/<name>`, one file at a time, with this many minutes for each test. */
function slow(
  name: string,
  minutes: number,
  more: TestProjectInlineConfiguration["test"] = {},
): TestProjectInlineConfiguration {
  return {
    test: {
      name,
      include: [`test/slow/${name}/**/*.test.ts`],
      testTimeout: minutes * 60_000,
      hookTimeout: 120_000,
      // Without it what a test polls for has one second.
      expect: PATIENCE.expect,
      globalSetup: ["test/support/temp-folder.ts"],
      fileParallelism: false,
      ...more,
    },
  };
}

// `vitest` alone, in a terminal or an editor, runs the fast tests; slow suites run only when named: `--project edge`.
const named = process.argv.some((argument) => argument.startsWith("--project"));

export default defineConfig({
  test: {
    projects: named ? [tests, clocks, ...slowSuites] : [tests, clocks],
    sequence: { sequencer: LongestFirst },
    // More than `temp-folder.ts` waits for what ends with the tests.
    teardownTimeout: 120_000,
  },
});
