import { randomBytes } from "node:crypto";
import { Address } from "../../../src/primitives/address.ts";
import { median } from "../measure.ts";
import type { BenchRow } from "../venues.ts";
import { SubmitRig } from "./submit-rig.ts";

/** What a node takes to answer. Milliseconds. */
const LATENCY_MS = 20;
const MISSING = 40;
const OTHER_TRADER = 1;

/**
 * The first buy of tokens that nobody asked for yet, then by another wallet that has traded before, and buys of mints that do not
 * exist, by nodes that take their time.
 */
export async function coldRows(root: string): Promise<readonly BenchRow[]> {
  const rig = await SubmitRig.start(root, 1, {
    COLD_SEARCHES_PER_KEY: "1000",
    COLD_SEARCHES_PER_ADDRESS: "1000",
    COLD_SEARCHES_PER_SECOND: "1000",
  });
  await rig.node({ latencyMs: LATENCY_MS });
  const missing = Array.from({ length: MISSING }, () => Address.from(randomBytes(32)).toString());
  const { mints } = rig.ready;
  const first = await rowOf(rig, "first buy of a token", mints, "≤ 80 ms, ≤ 12 calls, ≤ 3 ms");
  await rig.buy(mints[0]!, OTHER_TRADER);
  const known = "first buy of a known token by a known wallet";
  const rows = [
    first,
    await rowOf(rig, known, mints.slice(1), "≤ 1 call", OTHER_TRADER),
    await rowOf(rig, "buy of a mint that does not exist", missing, "≤ 1 call, ≤ 0.3 ms"),
  ];
  rig.close();
  return rows;
}

async function rowOf(
  rig: SubmitRig,
  what: string,
  mints: readonly string[],
  promise: string,
  trader = 0,
): Promise<BenchRow> {
  const restPerMs = await rig.restingCpu();
  const [times, cpu, calls]: [number[], number[], number[]] = [[], [], []];
  const kinds: Record<string, number> = {};
  for (const mint of mints) {
    await rig.node({ reset: true });
    const [before, startMs] = [await rig.cpu(), performance.now()];
    await rig.buy(mint, trader);
    const tookMs = performance.now() - startMs;
    cpu.push(((await rig.cpu()) - before - restPerMs * tookMs) / 1_000);
    times.push(tookMs);
    // Those that the service makes every slot anyway do not count.
    const made = Object.entries((await rig.node({})).calls).filter(([method]) => COUNTED.has(method));
    calls.push(made.reduce((sum, [, count]) => sum + count, 0));
    for (const [method, count] of made) kinds[method] = (kinds[method] ?? 0) + count;
  }
  const each = Object.entries(kinds).map(([method, count]) => `${(count / mints.length).toFixed(1)} ${method}`);
  const took = `${median(times).toFixed(0)} ms, ${median(cpu).toFixed(1)} ms of processor time`;
  return [`${what}, nodes answer in ${LATENCY_MS} ms`, took, `${median(calls)} calls: ${each.join(", ")}`, promise];
}

const COUNTED: ReadonlySet<string> = new Set([
  "getMultipleAccounts",
  "getProgramAccounts",
  "getAccountInfo",
  "getMinimumBalanceForRentExemption",
]);
