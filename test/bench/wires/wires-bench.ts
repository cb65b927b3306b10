import { fileURLToPath } from "node:url";
import { BenchChild } from "../child.ts";
import { median } from "../measure.ts";
import type { Usage } from "../spread/spread-service.ts";
import type { BenchRow } from "../venues.ts";
import type { ClosedLoop, LoopAnswer, OpenLoop } from "./callers.ts";
import { WIRES, type WireName } from "./wire-requests.ts";

const WARM_CALLS = 4_000;
const CALLS = 1_200;
const ROUNDS = 5;
/** Calls whose allocations are counted: too few for a collection in between. */
const COUNTED_CALLS = 60;
const OPEN_SECONDS = 3;

const PROMISES: Readonly<Record<WireName, string>> = {
  REST: "≥ 0.45",
  "Connect JSON": "≥ 0.35",
  "Connect proto": "≥ 0.40",
  "gRPC-Web": "",
  gRPC: "≥ 0.30",
};

/** The service of a revision under spread traffic. */
export interface SpreadServer {
  readonly child: BenchChild;
  readonly port: number;
  /** What its callers know. */
  readonly file: string;
}

export async function startSpreadServer(root: string, args: readonly string[] = []): Promise<SpreadServer> {
  const child = new BenchChild(`${root}/test/bench/spread/spread-service.ts`, root, { args });
  return { child, ...(await child.next<{ readonly port: number; readonly file: string }>()) };
}

export async function startCallers(file: string): Promise<BenchChild> {
  const child = new BenchChild(fileURLToPath(new URL("callers.ts", import.meta.url)), process.cwd(), { args: [file] });
  await child.next();
  return child;
}

/** Processor time of the server per call. Microseconds. */
export async function measureCalls(
  callers: BenchChild,
  server: { readonly child: BenchChild; readonly port: number },
  loop: Pick<ClosedLoop, "wire" | "calls"> & { readonly isOnePair?: boolean },
): Promise<{ readonly micros: number; readonly bytes: number; readonly answerBytes: number }> {
  const before = await server.child.ask<Usage>({});
  const { port } = server;
  const answer = await callers.ask<LoopAnswer>({
    isOnePair: false,
    ...loop,
    kind: "closed",
    port,
  } satisfies ClosedLoop);
  const after = await server.child.ask<Usage>({});
  if (answer.busy > loop.calls / 20)
    throw new Error(`${answer.busy} of ${loop.calls} calls were refused: too busy a machine`);
  return {
    micros: (after.cpu - before.cpu) / loop.calls,
    bytes: (after.bytes - before.bytes) / loop.calls,
    answerBytes: answer.bytes,
  };
}

/** Every wire beside its yardstick, in turn; and latencies at half of what one core does. */
export async function wireRows(root: string): Promise<readonly BenchRow[]> {
  const server = await startSpreadServer(root);
  const callers = await startCallers(server.file);
  const rows: BenchRow[] = [];
  for (const wire of WIRES) {
    const { answerBytes } = await measureCalls(callers, server, { wire, calls: 100 });
    const yardstick = await startYardstick(wire, answerBytes);
    const bareWire = wire === "gRPC" ? "gRPC" : "REST";
    await measureCalls(callers, server, { wire, calls: WARM_CALLS });
    await measureCalls(callers, yardstick, { wire: bareWire, calls: WARM_CALLS });
    const taken: { readonly ours: number[]; readonly bare: number[] } = { ours: [], bare: [] };
    for (let round = 0; round < ROUNDS; round++) {
      taken.ours.push((await measureCalls(callers, server, { wire, calls: CALLS })).micros);
      taken.bare.push((await measureCalls(callers, yardstick, { wire: bareWire, calls: CALLS })).micros);
    }
    yardstick.child.close();
    const [ours, bare] = [median(taken.ours), median(taken.bare)];
    const ratio = median(taken.ours.map((time, index) => taken.bare[index]! / time));
    const perSecond = 500_000 / ours;
    const open: OpenLoop = { kind: "open", wire, port: server.port, perSecond, seconds: OPEN_SECONDS };
    const { p50, p99 } = await callers.ask<LoopAnswer>(open);
    const name = wire === "gRPC" ? "raw node:http2" : "bare Fastify";
    rows.push([`${name}, ${answerBytes} bytes back`, `${bare.toFixed(0)} µs`, "1", ""]);
    rows.push([`${wire} buy, spread, one update each`, `${ours.toFixed(0)} µs`, ratio.toFixed(2), PROMISES[wire]]);
    const at = `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`;
    rows.push([`${wire}, open loop at half load (${perSecond.toFixed(0)}/s)`, at, "", ""]);
  }
  rows.push(await allocationRow(callers, server));
  callers.close();
  server.child.close();
  return rows;
}

async function allocationRow(callers: BenchChild, server: SpreadServer): Promise<BenchRow> {
  const counted: number[] = [];
  for (let round = 0; round < 15; round++) {
    const { bytes } = await measureCalls(callers, server, { wire: "REST", calls: COUNTED_CALLS });
    // A collection has run in between.
    if (bytes > 0) counted.push(bytes);
  }
  return ["allocations of a REST buy", `${(median(counted) / 1024).toFixed(1)} KiB`, "", "≤ 16 KiB"];
}

async function startYardstick(
  wire: WireName,
  bytes: number,
): Promise<{ readonly child: BenchChild; readonly port: number }> {
  const file = wire === "gRPC" ? "bare-http2.ts" : "bare-fastify.ts";
  const child = new BenchChild(fileURLToPath(new URL(file, import.meta.url)), process.cwd(), { args: [String(bytes)] });
  return { child, ...(await child.next<{ readonly port: number }>()) };
}
