import { createRandom } from "../../../src/primitives/random.ts";
import type { BenchChild } from "../child.ts";
import { median } from "../measure.ts";
import type { BenchRow } from "../venues.ts";
import { partRows } from "./call-parts.ts";
import type { LoopAnswer, OpenLoop } from "./callers.ts";
import { measureCalls, type SpreadServer, startCallers, startSpreadServer } from "./measured-calls.ts";
import { WIRES, type WireName } from "./wire-requests.ts";
import { Yardstick } from "./yardsticks.ts";

/** Calls of each wire until nothing is compiled any more, on either side: after 12,000 a bare Fastify call is a third dearer than after 36,000. */
const WARM_ROUNDS = 6;
const WARM_CALLS = 3_000;
const CALLS = 1_200;
const ROUNDS = 15;
const OPEN_SECONDS = 3;
/** Of the order of wires: in a fixed one, each pays for what the same other has left in the caches. */
const random = createRandom(31);

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
  readonly yardstick: Yardstick;
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
  const http1 = await Yardstick.start("bare-fastify.ts", "REST");
  const http2 = await Yardstick.start("bare-http2.ts", "gRPC");
  const rivals: Rival[] = [];
  for (const wire of WIRES) {
    const { answerBytes } = await measureCalls(callers, server, { wire, calls: 100 });
    rivals.push({ wire, answerBytes, yardstick: wire === "gRPC" ? http2 : http1, ours: [], bare: [] });
  }
  for (let round = 0; round < WARM_ROUNDS; round++) await measureRound(callers, server, rivals, round, WARM_CALLS);
  for (const { ours, bare } of rivals) ours.length = bare.length = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const order = rivals.map((rival) => ({ rival, at: random.u32() })).sort((a, b) => a.at - b.at);
    await measureRound(
      callers,
      server,
      order.map(({ rival }) => rival),
      round,
      CALLS,
    );
  }
  for (const yardstick of [http1, http2]) yardstick.close();
  const rows: BenchRow[] = [];
  for (const rival of rivals) rows.push(...ratioRows(rival), await latencyRow(callers, server, rival));
  rows.push(...(await partRows(callers, server)));
  callers.close();
  server.child.close();
  return rows;
}

/** Of each wire a batch between one of each process of its yardstick, whichever comes first. */
async function measureRound(
  callers: BenchChild,
  server: SpreadServer,
  rivals: readonly Rival[],
  round: number,
  calls: number,
): Promise<void> {
  for (const { wire, answerBytes, yardstick, ours, bare } of rivals) {
    const before = await yardstick.measure(callers, round, calls, answerBytes);
    ours.push((await measureCalls(callers, server, { wire, calls })).micros);
    const after = await yardstick.measure(callers, round + 1, calls, answerBytes);
    bare.push((before + after) / 2);
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
