import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { childEnvironment } from "../support/child-environment.ts";

/** Runs in the spawned process: on SIGUSR2 it prints the native libraries that are loaded, of all threads, and the packages' modules. */
const REPORTER = `data:text/javascript,${encodeURIComponent(`
  process.on("SIGUSR2", () => {
    process.report.excludeNetwork = true;
    const libraries = process.report.getReport().sharedObjects;
    const modules = Object.keys(process.getBuiltinModule("node:module")._cache);
    process.stdout.write("LOADED " + JSON.stringify({ libraries, modules }) + " END");
  });
`)}`;

const folder = mkdtempSync(join(tmpdir(), "tradewire-libraries-"));
let node: Sandbox;
beforeAll(async () => {
  node = await startSandbox({ slotMs: 100 });
});
afterAll(async () => {
  await node?.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Loaded {
  readonly libraries: readonly string[];
  /** CommonJS modules: most packages are made of them. */
  readonly modules: readonly string[];
}

/** Starts the command, and lists what it has loaded once it prints \`ready\`. */
async function loadedBy(argv: readonly string[], env: Readonly<Record<string, string>>, ready: string) {
  const child: ChildProcess = spawn(process.execPath, ["--import", REPORTER, "src/process/main.ts", ...argv], {
    env: childEnvironment({
      DATA_DIR: folder,
      PORT: "0",
      ADMIN_PORT: "0",
      SANDBOX_PORT: "0",
      ...env,
    }),
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout!.on("data", (chunk) => {
    printed += chunk;
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  try {
    await expect.poll(() => printed).toContain(ready);
    child.kill("SIGUSR2");
    await expect.poll(() => printed).toContain(" END");
    return JSON.parse(/LOADED (.*) END/.exec(printed)![1]!) as Loaded;
  } finally {
    child.kill("SIGINT");
    await ended;
  }
}

const isLiteSvm = (path: string) => path.includes("litesvm");

test("a service with a node never loads LiteSVM, nor packages that it does not use", async () => {
  const { libraries, modules } = await loadedBy(
    [],
    { SOLANA_RPC_URL: node.rpcUrl, SOLANA_WS_URL: node.wsUrl, LOOKUP_TABLES: "none" },
    "Tradewire is ready",
  );
  expect(libraries).not.toEqual([]);
  expect(libraries.filter(isLiteSvm)).toEqual([]);
  const ofPackage = (name: string) => modules.filter((path) => path.includes(`/node_modules/${name}/`));
  expect(ofPackage("fastify")).not.toEqual([]);
  // Compilers of schemas, which no route has, and the driver of a database that is not configured: a hundred files of each start.
  expect(["ajv", "@fastify/ajv-compiler", "pg"].flatMap(ofPackage)).toEqual([]);
});

test("--chain loads it, and serves a chain", async () => {
  const { libraries } = await loadedBy(["--chain"], {}, "The embedded chain is ready");
  expect(libraries.filter(isLiteSvm)).not.toEqual([]);
});
