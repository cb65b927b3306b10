import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BenchChild } from "../child.ts";
import { median } from "../measure.ts";
import type { BenchRow } from "../venues.ts";
import type { NodeReady } from "./chain-node.ts";

const STARTS = 5;
/** As in `npm start`; a revision without that file starts without. */
const NODE_ARGUMENTS = existsSync("src/process/compile-cache.js") ? ["--import", "./src/process/compile-cache.js"] : [];
/** Milliseconds of a tick of /proc. */
const TICK_MS = 10;

/** From `npm start` with a node to ready, alone and with two workers. */
export async function startRows(root: string): Promise<readonly BenchRow[]> {
  const chain = new BenchChild(fileURLToPath(new URL("chain-node.ts", import.meta.url)), root);
  const { urls, wsUrl } = await chain.next<NodeReady>();
  const folder = mkdtempSync(join(tmpdir(), "tradewire-bench-"));
  const environment = {
    PATH: process.env.PATH,
    PORT: "0",
    ADMIN_PORT: "0",
    DATA_DIR: folder,
    SOLANA_RPC_URLS: urls[0],
    SOLANA_WS_URLS: wsUrl,
  };
  const start = (argv: readonly string[]) => startOnce(root, environment, argv);
  // The first one compiles what the others find.
  await start([]);
  const [alone, workers]: [Started[], Started[]] = [[], []];
  for (let i = 0; i < STARTS; i++) {
    alone.push(await start([]));
    workers.push(await start(["--workers", "2"]));
  }
  chain.close();
  rmSync(folder, { recursive: true });
  const wallMs = (all: readonly Started[]) => median(all.map(({ ms }) => ms));
  const cpuMs = median(alone.map(({ cpuMs }) => cpuMs));
  return [
    ["start to ready, one node", `${cpuMs.toFixed(0)} ms`, `${wallMs(alone).toFixed(0)} ms`, "≤ 1000 ms"],
    ["start to ready, --workers 2", "", `${(wallMs(workers) - wallMs(alone)).toFixed(0)} ms more`, "≤ 1000 ms more"],
  ];
}

interface Started {
  readonly ms: number;
  /** Processor time of the process itself, without children; 0 where the system does not tell. */
  readonly cpuMs: number;
}

async function startOnce(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
  argv: readonly string[],
): Promise<Started> {
  const startMs = performance.now();
  const child = spawn(process.execPath, [...NODE_ARGUMENTS, "src/process/main.ts", ...argv], {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (data) => {
        output += data;
        if (output.includes("is ready")) resolve();
      });
    child.once("exit", () => reject(new Error(output)));
  });
  const ms = performance.now() - startMs;
  const cpuMs = cpuMsOf(child.pid!);
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGINT");
  await ended;
  return { ms, cpuMs };
}

function cpuMsOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return TICK_MS * (Number(fields[11]) + Number(fields[12]));
  } catch {
    return 0;
  }
}
