import { fork } from "node:child_process";
import { once } from "node:events";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, it } from "vitest";
import { type Outcome, startCallers } from "./caller-process.ts";
import { type EdgeProcess, startEdgeProcess } from "./edge-process.ts";
import { Latencies } from "./latencies.ts";
import { ms, report } from "./table.ts";

const MIB = 1024 * 1024;
/** In which a flood opens all of its connections: long enough for a hundred calls above the 99th percentile. */
const OPENING_MS = 30_000;
const PING = "GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n";

let edge: EdgeProcess;
afterEach(() => edge?.stop());

const pings = (durationMs: number, { port } = edge) =>
  startCallers({ port, connections: 4, perSecond: 400, durationMs, request: PING });

interface Attack {
  readonly connections: number;
  readonly streams: number;
  readonly openingMs: number;
  /** Whether all is asked with the first bytes, or once the server has sent its settings. */
  readonly asks: "first" | "greeted";
  /** Each connection asks for them in turn. */
  readonly paths: readonly string[];
}

/** Clients that ask over HTTP/2 and never read, in a process of their own. */
async function prepareAttack({ connections, streams, openingMs, asks, paths }: Attack) {
  const file = fileURLToPath(new URL("./stalling-process.ts", import.meta.url));
  const attacker = fork(file, [edge.port, connections, streams, 4, openingMs, asks, ...paths].map(String));
  await once(attacker, "message");
  return {
    open() {
      attacker.send("go");
      return once(attacker, "message");
    },
    async state() {
      attacker.send("state");
      const [state] = await once(attacker, "message");
      return state as {
        readonly open: number;
        readonly refused: number;
        readonly reset: number;
        readonly usedMs: number;
      };
    },
    end: () => void attacker.kill("SIGKILL"),
  };
}

/** @param twin a server like the attacked one, whose callers call at the same time: what else the machine does meets both alike */
async function runAttack(attack: Attack, twin: EdgeProcess) {
  await Promise.all([pings(2_000), pings(2_000, twin)].map(async (callers) => (await callers).run()));
  const callers = await Promise.all([pings(attack.openingMs), pings(attack.openingMs, twin)]);
  const attackers = await prepareAttack(attack);
  let peakBytes = 0;
  let isOver = false;
  const [busy, calm] = [new Latencies(), new Latencies()];
  await Promise.all([edge.coreTimes(), twin.coreTimes()]);
  const watch = (async () => {
    for (; !isOver; await sleep(250)) peakBytes = Math.max(peakBytes, (await edge.usage()).residentBytes);
  })();
  const [beside, alone] = await Promise.all([...callers.map((each) => each.run()), attackers.open()]);
  isOver = true;
  await watch;
  busy.add(beside as Outcome, await edge.coreTimes());
  calm.add(alone as Outcome, await twin.coreTimes());
  const endedMs = performance.now();
  let usage = await edge.usage();
  while (usage.streams > 0 && performance.now() - endedMs < 15_000) {
    await sleep(250);
    usage = await edge.usage();
    peakBytes = Math.max(peakBytes, usage.residentBytes);
  }
  const closedMs = performance.now() - endedMs;
  const state = await attackers.state();
  attackers.end();
  return { calm, busy, peakBytes, state: { ...state, left: usage.streams }, closedMs };
}

const PATHS = [["/v1/openapi.json"], ["/v1/ping", "/v1/nothing"]];

it.each(PATHS.flatMap((paths) => (["first", "greeted"] as const).map((asks) => ({ paths, asks }))))(
  "44: clients that never read hold little and not for long, at $paths, asked $asks",
  async ({ paths, asks }) => {
    edge = await startEdgeProcess({ watchCore: true });
    const twin = await startEdgeProcess({ watchCore: true });
    const attack = { connections: 2_500, streams: 250, openingMs: OPENING_MS, asks, paths };
    const { calm, busy, peakBytes, state, closedMs } = await runAttack(attack, twin).finally(() => twin.stop());
    report(
      44,
      `2,500 connections × 250 streams that are never read, at ${paths.join(" and ")}, ${asks === "first" ? "asked with the first bytes" : "asked once greeted"}`,
      "memory ≤ 512 MB; closed ≤ 12 s after the last; others’ ping p99 ≤ 2× that of callers who call a twin of the server at the same time, while the machine lets servers and callers run",
      `${(peakBytes / MIB).toFixed(0)} MB at most; ${state.refused} streams refused, ${state.reset} closed, ${state.left} left after ${ms(closedMs)}; callers lost ${busy.failed}, ${busy.since(calm)}; the clients themselves took ${((100 * state.usedMs) / OPENING_MS).toFixed(0)} % of a core`,
      peakBytes <= 512 * MIB && state.left === 0 && closedMs <= 12_000 && busy.failed === 0 && busy.isWithin(2, calm),
    );
  },
);

it("44: clients that pipeline delay nobody", async () => {
  edge = await startEdgeProcess({ watchCore: true });
  await (await pings(1_000)).run();
  const calm = new Latencies();
  await edge.coreTimes();
  calm.add(await (await pings(5_000)).run(), await edge.coreTimes());
  const callers = await pings(5_000);
  const text = "GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1_500);
  let opened = 0;
  let isOver = false;
  const sockets = new Set<net.Socket>();
  const pipeline = () => {
    if (isOver) return;
    opened++;
    const socket = net.connect(edge.port, "127.0.0.1");
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("connect", () => socket.write(text));
    // Those that are cut come again, a fifth of a second later.
    socket.on("close", () => {
      sockets.delete(socket);
      setTimeout(pipeline, 200);
    });
  };
  await edge.coreTimes();
  // From here on: the calls before it, and the turn that sends the notes, are no doing of these clients.
  await edge.usage();
  for (let i = 0; i < 200; i++) pipeline();
  const busy = new Latencies();
  const outcome = await callers.run();
  const { ownStallMs } = await edge.usage();
  busy.add(outcome, await edge.coreTimes());
  isOver = true;
  for (const socket of sockets) socket.destroy();
  report(
    44.2,
    "200 connections that pipeline 1,500 requests each and never read",
    "others’ ping p99 ≤ 2× while the machine lets server and callers run, no stall above 100 ms of the server's own",
    `${opened} connections opened; longest own stall ${ms(ownStallMs)}; callers lost ${busy.failed}, ${busy.since(calm)}`,
    busy.failed === 0 && busy.isWithin(2, calm) && ownStallMs <= 100,
  );
});
