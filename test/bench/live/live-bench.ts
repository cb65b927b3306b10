import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { BenchRow } from "../venues.ts";

const run = promisify(execFile);

/** What is measured, each in a process of its own, and the most memory it may take. MiB. */
const PARTS = [
  { file: "crowd-bench.ts", count: 12_500, memory: 2_048 },
  { file: "crowd-bench.ts", count: 100_000, memory: 8_192 },
  { file: "arrays-bench.ts", count: 1_000, memory: 4_096 },
  { file: "restart-bench.ts", count: 10_000, memory: 2_048 },
] as const;

/** Thousands of markets live, and a restart with thousands of pairs in use. */
export async function liveRows(): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const { file, count, memory } of PARTS) {
    const path = fileURLToPath(new URL(file, import.meta.url));
    const args = ["--expose-gc", `--max-old-space-size=${memory}`, path, `${count}`];
    const { stdout } = await run(process.execPath, args);
    rows.push(...(JSON.parse(stdout) as readonly BenchRow[]));
  }
  return rows;
}
