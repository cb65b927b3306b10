import { median } from "../measure.ts";
import type { BenchRow } from "../venues.ts";
import type { WireRequest } from "../wires/wire-requests.ts";
import { fsyncTimes } from "./disk.ts";
import { SubmitRig } from "./submit-rig.ts";
import { callAll, callSpaced } from "./trades.ts";

/** Submits of a batch, and how many are pending at a time. */
export const SUBMITS = 192;
export const AT_ONCE = 32;
const BATCHES = 5;
/** Submits before any is measured, in batches with more pending: a submit takes two to three times as long until what it runs is compiled. */
const WARM_SUBMITS = 512;
const WARM_AT_ONCE = 128;
const WARM_BATCHES = 8;
/** Submits that are made for how soon they are broadcast, and the time between them. Milliseconds. */
const SPACED = 100;
const SPACED_MS = 25;
/** Replays and buys of a batch. */
const CALLS = 600;
const WARM_ROUNDS = 4;
const ROUNDS = 9;
const COUNTED = ["sendTransaction", "getSignatureStatuses", "getTransaction"] as const;
const PROMISES = { 1: "≤ 600 µs", 2: "≤ 1000 µs" } as const;
const NAMES = { 1: "one node", 2: "two nodes that corroborate" } as const;

/** Fresh submits with one node and with two, and submits of settled trades beside buys. */
export async function submitRows(root: string): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const nodes of [1, 2] as const) {
    const rig = await SubmitRig.start(root, nodes);
    await warmUp(rig);
    rows.push(...(await freshRows(rig, nodes)));
    if (nodes === 1) rows.push(...(await replayRows(rig)));
    rig.close();
  }
  return rows;
}

/** Submits until what a submit runs is compiled. */
export async function warmUp(rig: SubmitRig): Promise<void> {
  for (let batch = 0; batch < WARM_BATCHES; batch++) {
    const requests = (await rig.sign(WARM_SUBMITS)).map(({ request }) => request);
    await callAll(rig.port, requests, WARM_AT_ONCE);
  }
}

/** Processor time of a submit beyond what the service uses at rest, by rest per millisecond. Microseconds. */
async function submitBatch(rig: SubmitRig, restPerMs: number): Promise<number> {
  const requests = (await rig.sign(SUBMITS)).map(({ request }) => request);
  const before = await rig.cpu();
  const startMs = performance.now();
  await callAll(rig.port, requests, AT_ONCE);
  return ((await rig.cpu()) - before - restPerMs * (performance.now() - startMs)) / SUBMITS;
}

async function freshRows(rig: SubmitRig, nodes: 1 | 2): Promise<readonly BenchRow[]> {
  const taken: number[] = [];
  await rig.node({ reset: true });
  for (let batch = 0; batch < BATCHES; batch++) taken.push(await submitBatch(rig, await rig.restingCpu()));
  const { calls } = await rig.node({ reset: true });
  const perSubmit = COUNTED.map((method) => `${((calls[method] ?? 0) / SUBMITS / BATCHES).toFixed(2)} ${method}`);
  const spaced = await rig.sign(SPACED);
  const madeAt = await callSpaced(
    rig.port,
    spaced.map(({ request }) => request),
    SPACED_MS,
  );
  const { sentAt } = await rig.node({});
  const sends = spaced.map(({ signed }, i) => sentAt[signed]! - madeAt[i]!).toSorted((a, b) => a - b);
  const synced = await fsyncTimes(SPACED, SPACED_MS);
  const at = (sorted: readonly number[], share: number) => sorted[Math.floor(sorted.length * share)]!;
  const times = (sorted: readonly number[]) =>
    `p50 ${at(sorted, 0.5).toFixed(2)} ms, p99 ${at(sorted, 0.99).toFixed(2)} ms`;
  const remainder = `p50 ${(at(sends, 0.5) - at(synced, 0.5)).toFixed(2)} ms beyond the disk`;
  const name = NAMES[nodes];
  return [
    [`fresh submit, ${name}`, `${median(taken).toFixed(0)} µs`, perSubmit.join(", "), PROMISES[nodes]],
    [`request to first broadcast at the node, ${name}`, times(sends), remainder, "p50 ≤ 2 ms"],
    ["fsync of 4 KiB on the same disk, right after", times(synced), "", ""],
  ];
}

/** Submits of settled trades beside buys, in turn. */
async function replayRows(rig: SubmitRig): Promise<readonly BenchRow[]> {
  const replays = (await rig.sign(SUBMITS)).map(({ request }) => request);
  await callAll(rig.port, replays, AT_ONCE);
  const buys = rig.buys();
  const timeOf = async (some: readonly WireRequest[]) => {
    const requests = Array.from({ length: CALLS }, (_, i) => some[i % some.length]!);
    const before = await rig.cpu();
    await callAll(rig.port, requests, AT_ONCE);
    return ((await rig.cpu()) - before) / CALLS;
  };
  const times: { readonly replay: number; readonly buy: number }[] = [];
  for (let round = -WARM_ROUNDS; round < ROUNDS; round++) {
    const one = { replay: await timeOf(replays), buy: await timeOf(buys) };
    if (round >= 0) times.push(one);
  }
  const ratio = median(times.map(({ replay, buy }) => replay / buy));
  const micros = (which: "replay" | "buy") => `${median(times.map((one) => one[which])).toFixed(0)} µs`;
  return [
    ["REST buy of one pair, on the embedded chain", micros("buy"), "1", ""],
    ["submit of a settled trade", micros("replay"), `${ratio.toFixed(2)} × a buy`, "≤ 1.2 ×"],
  ];
}
