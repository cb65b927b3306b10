/**
 * Callers on raw, held connections, in a process of their own so that neither the server nor the test is measured by itself.
 * Argument: a Plan as JSON. Says "ready" once every connection is open, starts on the next message, then sends its Outcome.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { flushCompileCache } from "node:module";
import net from "node:net";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type CoreTime, CoreTimes, giveWay, machineMs } from "./core-times.ts";

export interface Plan {
  readonly port: number;
  readonly connections: number;
  /** Calls a second, whether or not answers come; absent: each connection asks again as soon as it is answered. */
  readonly perSecond?: number;
  readonly durationMs: number;
  /** The whole request as text. */
  readonly request: string;
  /** In place of it, a request for each call, in turn. */
  readonly requests?: readonly string[];
  /** Whether the process leaves the processor to all others. */
  readonly givesWay?: boolean;
}

/** One call: the status of its answer, 0 for none, and when it was asked and answered on the machine's clock. */
export interface Answer {
  readonly status: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** Its headers, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** How long an answer took. Milliseconds. */
export const durationOf = ({ fromMs, toMs }: Answer): number => toMs - fromMs;

export interface Outcome {
  readonly answers: readonly Answer[];
  /** When the run began and was over, before the last answers came. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Calls that had no free connection to go out on. */
  readonly unsent: number;
  /** Share of time this process itself was busy. */
  readonly busy: number;
  /** Notes it took every millisecond, where nothing held it up. */
  readonly notes: readonly CoreTime[];
}

/** Callers that are connected and wait for the word. */
export interface Callers {
  run(): Promise<Outcome>;
}

const FILE = fileURLToPath(import.meta.url);

export async function startCallers(plan: Plan): Promise<Callers> {
  const child = fork(FILE, [JSON.stringify(plan)], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  await once(child, "message");
  return {
    async run() {
      child.send("go");
      const [outcome] = await once(child, "message");
      child.kill("SIGKILL");
      return outcome as Outcome;
    },
  };
}

class Connection {
  readonly #socket: net.Socket;
  readonly #requests: readonly Buffer[];
  readonly #done: (connection: Connection, status: number, text: string) => void;
  #received = "";
  startMs = 0;

  constructor(
    plan: Plan,
    requests: readonly Buffer[],
    done: (connection: Connection, status: number, text: string) => void,
  ) {
    this.#requests = requests;
    this.#done = done;
    this.#socket = net.connect(plan.port, "127.0.0.1");
    this.#socket.setNoDelay(true);
    this.#socket.on("data", (chunk) => this.#read(chunk));
    this.#socket.on("error", () => {});
    this.#socket.on("close", () => this.#done(this, 0, ""));
  }

  open(): Promise<unknown> {
    return once(this.#socket, "connect");
  }

  /** @param turn of all calls: which of the requests it makes */
  ask(turn: number): void {
    this.startMs = machineMs();
    this.#socket.write(this.#requests[turn % this.#requests.length]!);
  }

  #read(chunk: Buffer): void {
    this.#received += chunk.toString("latin1");
    const end = this.#received.indexOf("\r\n\r\n");
    if (end === -1) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#received)?.[1] ?? 0);
    if (this.#received.length < end + 4 + length) return;
    const text = this.#received;
    this.#received = "";
    this.#done(this, Number(text.slice(9, 12)), text);
  }
}

/** An answer that has yet to be read: measured calls are not to wait for that. */
interface Received extends Omit<Answer, "headers"> {
  readonly text: string;
}

function headersOf(text: string): Record<string, string> {
  const lines = text.slice(0, Math.max(0, text.indexOf("\r\n\r\n"))).split("\r\n");
  const pairs = lines.slice(1).map((line) => /^([^:]+):\s*(.*)$/.exec(line) ?? ["", line, ""]);
  return Object.fromEntries(pairs.map(([, name, value]) => [name!.toLowerCase(), value!]));
}

async function main(plan: Plan): Promise<void> {
  if (plan.givesWay) giveWay();
  const received: Received[] = [];
  const free: Connection[] = [];
  const notes = new CoreTimes();
  let [running, waiting, unsent, startMs] = [false, 0, 0, 0];
  const requests = (plan.requests ?? [plan.request]).map((text) => Buffer.from(text));
  let asked = 0;
  const ask = (connection: Connection) => {
    waiting++;
    connection.ask(asked++);
  };
  const connections = Array.from(
    { length: plan.connections },
    () =>
      new Connection(plan, requests, (connection, status, text) => {
        if (!running) return;
        waiting--;
        const nowMs = machineMs();
        received.push({ status, fromMs: connection.startMs, toMs: nowMs, text });
        if (status === 0) return;
        if (plan.perSecond !== undefined) free.push(connection);
        else if (nowMs - startMs < plan.durationMs) ask(connection);
      }),
  );
  await Promise.all(connections.map((connection) => connection.open()));
  // The server decides the protocol of a connection by what comes first: these are HTTP/1.1 and warm before it counts.
  await sleep(300);
  // It ends by a signal, which keeps nothing.
  flushCompileCache();
  process.send!("ready");
  await once(process, "message");
  running = true;
  startMs = machineMs();
  const before = performance.eventLoopUtilization();
  if (plan.perSecond === undefined) for (const connection of connections) ask(connection);
  else free.push(...connections);
  let sent = 0;
  let nowMs = startMs;
  while (nowMs - startMs < plan.durationMs) {
    if (plan.perSecond !== undefined) {
      for (const due = ((nowMs - startMs) * plan.perSecond) / 1_000; sent < due; sent++) {
        const connection = free.shift();
        if (connection === undefined) unsent++;
        else ask(connection);
      }
    }
    await sleep(1);
    nowMs = notes.note().atMs;
  }
  const { utilization } = performance.eventLoopUtilization(before);
  for (const untilMs = nowMs + 10_000; waiting > 0 && notes.note().atMs < untilMs; ) await sleep(1);
  for (; waiting > 0; waiting--) received.push({ status: 0, fromMs: nowMs, toMs: machineMs(), text: "" });
  running = false;
  const answers = received.map(({ text, ...call }): Answer => ({ ...call, headers: headersOf(text) }));
  const outcome: Outcome = { answers, fromMs: startMs, toMs: nowMs, unsent, busy: utilization, notes: notes.take() };
  process.send!(outcome);
}

if (process.argv[1] === FILE) await main(JSON.parse(process.argv[2]!));
