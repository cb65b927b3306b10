import { type ChildProcess, fork } from "node:child_process";
import { flushCompileCache } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Api } from "../../../src/api/server.ts";
import type { ApiSettings } from "../../../src/api/settings.ts";
import { monotonicMs } from "../../../src/primitives/clock.ts";
import { DEFAULT_API_SETTINGS } from "../../support/api-settings.ts";
import { createFakeAccounts, createFakeTrades } from "../../support/fake-trades.ts";
import { type CoreTime, CoreTimes, usedMs } from "./core-times.ts";

/** The edge in a process of its own, so that its memory and its event loop are its own. */
export interface EdgeProcess {
  readonly port: number;
  /** Resident memory in bytes, connections held, and the longest stall of the event loop since the last time. */
  usage(): Promise<Usage>;
  /** Notes of its processor time since the last time, with `watchCore`. */
  coreTimes(): Promise<readonly CoreTime[]>;
  stop(): Promise<void>;
}

export interface Usage {
  readonly residentBytes: number;
  readonly connections: number;
  readonly streams: number;
  readonly stallMs: number;
  /** The same by processor time of the loop's thread: what it did itself. */
  readonly ownStallMs: number;
}

export interface EdgeOptions {
  readonly settings?: Partial<ApiSettings>;
  /** Processor time of each build. */
  readonly buildMs?: number;
  /** Time each submit waits for the chain. */
  readonly submitMs?: number;
  /** Takes note of processor time. */
  readonly watchCore?: boolean;
}

const FILE = fileURLToPath(import.meta.url);

export async function startEdgeProcess(options: EdgeOptions = {}): Promise<EdgeProcess> {
  const child: ChildProcess = fork(FILE, [JSON.stringify(options)], { stdio: "inherit" });
  const next = <T>() => new Promise<T>((resolve) => child.once("message", (message) => resolve(message as T)));
  const { port } = await next<{ port: number }>();
  return {
    port,
    usage() {
      child.send("usage");
      return next<Usage>();
    },
    coreTimes() {
      child.send("coreTimes");
      return next<readonly CoreTime[]>();
    },
    async stop() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** The edge over fakes whose builds and submits take time. */
export async function createEdge({ settings = {}, buildMs = 0, submitMs = 0 }: EdgeOptions) {
  const fakes = createFakeTrades();
  const accounts = createFakeAccounts();
  return new Api({
    nowMs: monotonicMs,
    wallMs: Date.now,
    requestIdPrefix: "edge",
    trades: {
      ...fakes,
      build(request) {
        if (buildMs > 0) beBusy(buildMs);
        return fakes.build(request);
      },
      async submit(order) {
        if (submitMs > 0) await sleep(submitMs);
        return fakes.submit(order);
      },
    },
    accounts,
    keys: accounts,
    logger: { warn() {}, error() {} },
    settings: { ...DEFAULT_API_SETTINGS, port: 0, ...settings },
    canBuild: () => true,
  });
}

/** Uses so much processor time. Asks for it seldom: the answers are objects, and collecting them would count in. */
function beBusy(milliseconds: number): void {
  const untilMs = usedMs() + milliseconds;
  for (let leftMs = milliseconds; leftMs > 0; leftMs = untilMs - usedMs()) {
    const pauseMs = performance.now() + leftMs;
    while (performance.now() < pauseMs);
  }
}

async function main(options: EdgeOptions): Promise<void> {
  const api = await createEdge(options);
  const { port } = await api.listen();
  // It ends by a signal, which keeps nothing.
  flushCompileCache();
  let stallMs = 0;
  let ownStallMs = 0;
  let lastMs = performance.now();
  let lastUsedMs = usedMs();
  setInterval(() => {
    const nowMs = performance.now();
    const nowUsedMs = usedMs();
    stallMs = Math.max(stallMs, nowMs - lastMs - 10);
    ownStallMs = Math.max(ownStallMs, nowUsedMs - lastUsedMs - 10);
    lastMs = nowMs;
    lastUsedMs = nowUsedMs;
  }, 10);
  const coreTimes = new CoreTimes();
  if (options.watchCore) coreTimes.watch();
  process.on("message", (asked) => {
    if (asked === "coreTimes") {
      process.send!(coreTimes.take());
      return;
    }
    const residentBytes = process.memoryUsage.rss();
    const { connections, streams } = api.load();
    process.send!({ residentBytes, connections, streams, stallMs, ownStallMs } satisfies Usage);
    stallMs = 0;
    ownStallMs = 0;
  });
  process.on("disconnect", () => process.exit(0));
  process.send!({ port });
}

if (process.argv[1] === FILE) await main(JSON.parse(process.argv[2]!));
