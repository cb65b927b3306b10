import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../../support/postgres.ts";
import { median } from "../measure.ts";
import type { BenchRow } from "../venues.ts";
import { startBalancer } from "./balancer.ts";
import { type RigService, SubmitRig } from "./submit-rig.ts";
import { callAll } from "./trades.ts";

const CALLS = 600;
const AT_ONCE = 16;
const WARM_ROUNDS = 4;
const ROUNDS = 9;

/** Processor time of a call, in each arrangement. Microseconds. */
interface Times {
  readonly alone: number;
  readonly both: number;
  /** Behind HAProxy, whose own time does not count; 0 without it. */
  readonly balanced: number;
}

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
  const balancer = await startBalancer([rig.port, other.port], folder);
  const behindBalancer = async () => {
    if (balancer === undefined) return 0;
    const before = (await rig.cpu()) + (await other.cpu());
    await callAll(balancer.port, [...requests, ...requests], 2 * AT_ONCE);
    return ((await rig.cpu()) + (await other.cpu()) - before) / CALLS / 2;
  };
  const times: Times[] = [];
  for (let round = -WARM_ROUNDS; round < ROUNDS; round++) {
    await timeOf([other]);
    const one = { alone: await timeOf([rig]), both: await timeOf([rig, other]), balanced: await behindBalancer() };
    if (round >= 0) times.push(one);
  }
  balancer?.close();
  other.close();
  rig.close();
  await postgres.stop();
  rmSync(folder, { recursive: true });
  const micros = (which: keyof Times) => median(times.map((one) => one[which]));
  const perCore = (which: keyof Times) => `${median(times.map((one) => one.alone / one[which])).toFixed(2)} per core`;
  const wanted = "≥ 0.9 per core";
  const row = (name: string, time: number, ratio: string, promise: string): BenchRow => [
    `REST buys, ${name}`,
    `${time.toFixed(0)} µs, ${(1e6 / time).toFixed(0)}/s of a core`,
    ratio,
    promise,
  ];
  return [
    row("one process on PostgreSQL", micros("alone"), "1", ""),
    row("two processes on one PostgreSQL at once", micros("both"), perCore("both"), wanted),
    balancer === undefined
      ? ["REST buys, the same behind HAProxy", "not installed here", "", wanted]
      : row("the same behind HAProxy", micros("balanced"), perCore("balanced"), wanted),
  ];
}
