import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../../support/postgres.ts";
import { median } from "../measure.ts";
import type { BenchRow } from "../venues.ts";
import { type RigService, SubmitRig } from "./submit-rig.ts";
import { callAll } from "./trades.ts";

const CALLS = 600;
const AT_ONCE = 16;
const WARM_ROUNDS = 4;
const ROUNDS = 9;

/**
 * Buys by one process and by two on one PostgreSQL at the same time, as calls a second of processor time: what a core does alone,
 * and what each does beside another process.
 */
export async function scaleRows(root: string): Promise<readonly BenchRow[]> {
  const postgres = await startPostgres();
  if (postgres === undefined) return [["two processes on one PostgreSQL", "not installed here", "", "≥ 0.9 per core"]];
  const folder = mkdtempSync(join(tmpdir(), "tradewire-bench-"));
  const settings = {
    DATABASE_URL: await postgres.createDatabase(),
    KEY_PEPPER: "11".repeat(32),
    TOKEN_KEYS: `k1:${"22".repeat(32)}`,
    DATA_DIR: folder,
  };
  const rig = await SubmitRig.start(root, 1, settings);
  const other = await rig.startAnother(root);
  const requests = Array.from({ length: CALLS }, (_, i) => rig.buys()[i % rig.buys().length]!);
  const timeOf = async (services: readonly RigService[]) => {
    const before = await Promise.all(services.map((one) => one.cpu()));
    await Promise.all(services.map((one) => callAll(one.port, requests, AT_ONCE)));
    const after = await Promise.all(services.map((one) => one.cpu()));
    return after.reduce((sum, cpu, i) => sum + cpu - before[i]!, 0) / CALLS / services.length;
  };
  const times: { readonly alone: number; readonly both: number }[] = [];
  for (let round = -WARM_ROUNDS; round < ROUNDS; round++) {
    await timeOf([other]);
    const one = { alone: await timeOf([rig]), both: await timeOf([rig, other]) };
    if (round >= 0) times.push(one);
  }
  other.close();
  rig.close();
  await postgres.stop();
  rmSync(folder, { recursive: true });
  const micros = (which: "alone" | "both") => median(times.map((one) => one[which]));
  const perCore = median(times.map(({ alone, both }) => alone / both));
  const row = (name: string, time: number, ratio: string, promise: string): BenchRow => [
    `REST buys, ${name}`,
    `${time.toFixed(0)} µs, ${(1e6 / time).toFixed(0)}/s of a core`,
    ratio,
    promise,
  ];
  return [
    row("one process on PostgreSQL", micros("alone"), "1", ""),
    row("two processes on one PostgreSQL at once", micros("both"), `${perCore.toFixed(2)} per core`, "≥ 0.9 per core"),
  ];
}
