import { fileURLToPath } from "node:url";
import { BenchChild } from "../child.ts";
import { median } from "../measure.ts";
import type { BenchRow } from "../venues.ts";
import { partRows } from "./call-parts.ts";
import type { LoopAnswer, OpenLoop } from "./callers.ts";
import { measureCalls, type SpreadServer, startCallers, startSpreadServer } from "./measured-calls.ts";
import { WIRES, type WireName } from "./wire-requests.ts";

/** Calls of each wire until nothing is compiled any more: a tenth of it leaves a call half as dear again. */
const WARM_ROUNDS = 4;
const WARM_CALLS = 3_000;
const CALLS = 1_200;
const ROUNDS = 7;
const OPEN_SECONDS = 3;

const PROMISES: Readonly<Record<WireName, string>> = {
  REST: "≥ 0.45",
  "Connect JSON": "≥ 0.35",
  "Connect proto": "≥ 0.40",
  "gRPC-Web": "",
  gRPC: "≥ 0.30",
};

/** A wire, its yardstick, and what a call of either took in each round. Microseconds. */
interface Rival {
  readonly wire: WireName;
  readonly answerBytes: number;
  readonly yardstick: { readonly child: BenchChild; readonly port: number };
  readonly ours: number[];
  readonly bare: number[];
}

/**
 * Every wire and its yardstick in turns, after as many calls of each as compiling takes: none is measured before the others have
 * warmed what they share. Then what a REST buy consists of, and latencies at half of what one core does.
 */
export async function wireRows(root: string): Promise<readonly BenchRow[]> {
  const server = await startSpreadServer(root);
  const callers = await startCallers(server.file);
  const rivals: Rival[] = [];
  for (const wire of WIRES) rivals.push(await findRival(callers, server, wire));
  for (let round = 0; round < WARM_ROUNDS; round++) await measureRound(callers, server, rivals, WARM_CALLS);
  for (const { ours, bare } of rivals) ours.length = bare.length = 0;
  for (let round = 0; round < ROUNDS; round++) await measureRound(callers, server, rivals.toReversed(), CALLS);
  for (const { yardstick } of rivals) yardstick.child.close();
  const rows: BenchRow[] = [];
  for (const rival of rivals) rows.push(...ratioRows(rival), await latencyRow(callers, server, rival));
  rows.push(...(await partRows(callers, server)));
  callers.close();
  server.child.close();
  return rows;
}

async function findRival(callers: BenchChild, server: SpreadServer, wire: WireName): Promise<Rival> {
  const { answerBytes } = await measureCalls(callers, server, { wire, calls: 100 });
  return { wire, answerBytes, yardstick: await startYardstick(wire, answerBytes), ours: [], bare: [] };
}

/** A batch of each wire, and one of its yardstick before or after it, in turn. */
async function measureRound(
  callers: BenchChild,
  server: SpreadServer,
  rivals: readonly Rival[],
  calls: number,
): Promise<void> {
  for (const { wire, yardstick, ours, bare } of rivals) {
    const bareWire = wire === "gRPC" ? "gRPC" : "REST";
    const measureBare = async () =>
      bare.push((await measureCalls(callers, yardstick, { wire: bareWire, calls })).micros);
    const isBareFirst = bare.length % 2 === 1;
    if (isBareFirst) await measureBare();
    ours.push((await measureCalls(callers, server, { wire, calls })).micros);
    if (!isBareFirst) await measureBare();
  }
}

function ratioRows({ wire, answerBytes, ours, bare }: Rival): readonly BenchRow[] {
  const name = wire === "gRPC" ? "raw node:http2" : "bare Fastify";
  const ratio = median(ours.map((time, index) => bare[index]! / time));
  return [
    [`${name}, ${answerBytes} bytes back`, `${median(bare).toFixed(0)} µs`, "1", ""],
    [`${wire} buy, spread, one update each`, `${median(ours).toFixed(0)} µs`, ratio.toFixed(2), PROMISES[wire]],
  ];
}

async function latencyRow(callers: BenchChild, { port }: SpreadServer, { wire, ours }: Rival): Promise<BenchRow> {
  const perSecond = 500_000 / median(ours);
  const open: OpenLoop = { kind: "open", wire, port, perSecond, seconds: OPEN_SECONDS };
  const { p50, p99 } = await callers.ask<LoopAnswer>(open);
  const at = `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`;
  return [`${wire}, open loop at half load (${perSecond.toFixed(0)}/s)`, at, "", ""];
}

async function startYardstick(
  wire: WireName,
  bytes: number,
): Promise<{ readonly child: BenchChild; readonly port: number }> {
  const file = wire === "gRPC" ? "bare-http2.ts" : "bare-fastify.ts";
  const child = new BenchChild(fileURLToPath(new URL(file, import.meta.url)), process.cwd(), { args: [String(bytes)] });
  return { child, ...(await child.next<{ readonly port: number }>()) };
}
