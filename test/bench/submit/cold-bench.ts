import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Address } from "../../../src/primitives/address.ts";
import { median } from "../measure.ts";
import type { BenchRow } from "../venues.ts";
import { SubmitRig } from "./submit-rig.ts";

/** What a node takes to answer. Milliseconds. */
const LATENCY_MS = 20;
const OTHER_TRADER = 1;
/** First buys that come before those measured: what a process runs for the first time takes many times as long. */
const WARM_BUYS = 16;
/** Mints that do not exist: those of a round, as many as an address may ask for at once, and rounds before any is measured. */
const MISSING = 12;
const WARM_ROUNDS = 12;
const ROUNDS = 9;
/** After this time an address may ask for as many again. Milliseconds. */
const ROUND_MS = 1_100;
/** How long the service is left alone, to know what it uses then. Milliseconds. */
const REST_MS = 4_000;
const COUNTED = ["getMultipleAccounts", "getProgramAccounts", "getAccountInfo"] as const;

/** What the service uses. */
interface Used {
  /** Processor time. Milliseconds. */
  readonly cpuMs: number;
  /** Calls to its node, in the order of `COUNTED`. */
  readonly calls: readonly number[];
}

/** Buys, and what each used in the mean beyond what the service uses at rest. */
interface Bought extends Used {
  /** Of each. Milliseconds. */
  readonly tookMs: readonly number[];
}

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
  const { mints } = rig.ready;
  const [early, late] = [mints.slice(0, WARM_BUYS), mints.slice(WARM_BUYS)];
  const rows = [
    rowOf(`first buy of a token, the first ${early.length} of a process`, await buyAll(rig, early), ""),
    rowOf("first buy of a token, later ones", await buyAll(rig, late), "≤ 80 ms, ≤ 12 calls, ≤ 3 ms"),
  ];
  await rig.buy(mints[0]!, OTHER_TRADER);
  const known = await buyAll(rig, mints.slice(1), OTHER_TRADER);
  rows.push(rowOf("first buy of a known token by a known wallet", known, "≤ 1 call"));
  rows.push(rowOf("buy of a mint that does not exist", await buyMissing(rig, buyEach), "≤ 1 call, ≤ 0.3 ms"));
  rows.push(rowOf(`the same, ${MISSING} at once`, await buyMissing(rig, buyAtOnce), ""));
  rig.close();
  return rows;
}

/** Buys one after the other. */
async function buyAll(rig: SubmitRig, mints: readonly string[], trader = 0): Promise<Bought> {
  const rest = await usedBy(rig, () => sleep(REST_MS));
  const tookMs: number[] = [];
  const used = await usedBy(rig, () => buyEach(rig, mints, trader, tookMs));
  const share = tookMs.reduce((sum, ms) => sum + ms, 0) / REST_MS;
  return { tookMs, ...without(used, rest, share, mints.length) };
}

/**
 * Buys mints that do not exist. One takes less than the service uses at rest while its node answers: rounds with and without them
 * take turns, of the same length.
 */
async function buyMissing(rig: SubmitRig, buy: typeof buyEach): Promise<Bought> {
  let tookMs: number[] = [];
  const round = async (mints: readonly string[]): Promise<void> => {
    const ended = sleep(ROUND_MS);
    await buy(rig, mints, 0, tookMs);
    await ended;
  };
  const missing = () => Array.from({ length: MISSING }, () => Address.from(randomBytes(32)).toString());
  for (let warm = 0; warm < WARM_ROUNDS; warm++) await round(missing());
  tookMs = [];
  const each: Used[] = [];
  for (let turn = 0; turn < ROUNDS; turn++) {
    const rest = await usedBy(rig, () => round([]));
    const used = await usedBy(rig, () => round(missing()));
    each.push(without(used, rest, 1, MISSING));
  }
  const calls = COUNTED.map((_, i) => median(each.map((one) => one.calls[i]!)));
  return { tookMs, cpuMs: median(each.map(({ cpuMs }) => cpuMs)), calls };
}

async function buyEach(rig: SubmitRig, mints: readonly string[], trader: number, tookMs: number[]): Promise<void> {
  for (const mint of mints) {
    const startMs = performance.now();
    await rig.buy(mint, trader);
    tookMs.push(performance.now() - startMs);
  }
}

async function buyAtOnce(rig: SubmitRig, mints: readonly string[], trader: number, tookMs: number[]): Promise<void> {
  await Promise.all(mints.map((mint) => buyEach(rig, [mint], trader, tookMs)));
}

async function usedBy(rig: SubmitRig, work: () => Promise<unknown>): Promise<Used> {
  await rig.node({ reset: true });
  const before = await rig.cpu();
  await work();
  const cpuMs = ((await rig.cpu()) - before) / 1_000;
  const { calls } = await rig.node({});
  return { cpuMs, calls: COUNTED.map((method) => calls[method] ?? 0) };
}

/** What each of some buys used, beyond a share of what is used at rest. */
function without(used: Used, rest: Used, share: number, buys: number): Used {
  return {
    cpuMs: (used.cpuMs - share * rest.cpuMs) / buys,
    calls: used.calls.map((calls, i) => (calls - share * rest.calls[i]!) / buys),
  };
}

function rowOf(what: string, { tookMs, cpuMs, calls }: Bought, promise: string): BenchRow {
  const all = calls.reduce((sum, count) => sum + count, 0);
  const kinds = COUNTED.map((method, i) => `${calls[i]!.toFixed(1)} ${method}`).join(", ");
  const took = `${median(tookMs).toFixed(0)} ms, ${cpuMs.toFixed(1)} ms of processor time`;
  return [`${what}, nodes answer in ${LATENCY_MS} ms`, took, `${all.toFixed(1)} calls: ${kinds}`, promise];
}
