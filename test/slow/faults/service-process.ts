import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { HeldMemory } from "./hours/held-memory.ts";

const MAIN = fileURLToPath(new URL("../../../src/process/main.ts", import.meta.url));
const SKEWED_CLOCK = fileURLToPath(new URL("./skewed-clock.ts", import.meta.url));
const MEMORY_PROBE = fileURLToPath(new URL("./hours/memory-probe.ts", import.meta.url));
const START_MS = 90_000;

/** A service in a process of its own, as `npm start` runs it. */
export interface ServiceProcess {
  readonly name: string;
  readonly url: string;
  /** Everything it has printed and logged. */
  output(): string;
  readonly pid: number;
  readonly isRunning: boolean;
  /** Resident memory and open files now; zeros once it has ended. */
  usage(): { readonly residentBytes: number; readonly openFiles: number };
  /** Memory after a full collection, of one that was started to measure it. */
  heldMemory(): Promise<HeldMemory>;
  /** The current sum of a metric over its labels. */
  metric(name: string): Promise<number>;
  kill(): Promise<void>;
  /** Asks it to end. @returns its exit code */
  stop(): Promise<number>;
}

/** What is unusual about a process. */
export interface Oddities {
  /** How wrong its clock is; default 0. */
  readonly clockSkewMs?: number | undefined;
  /** It can say what it holds; default false. */
  readonly measuresMemory?: boolean | undefined;
}

/** Starts a service and waits until it says that it is ready. @throws Error with its output when it does not come up */
export async function startServiceProcess(
  name: string,
  environment: Readonly<Record<string, string>>,
  { clockSkewMs = 0, measuresMemory = false }: Oddities = {},
): Promise<ServiceProcess> {
  const skew = clockSkewMs === 0 ? [] : ["--import", SKEWED_CLOCK];
  const probe = measuresMemory ? ["--expose-gc", "--import", MEMORY_PROBE] : [];
  const child: ChildProcess = spawn(process.execPath, [...skew, ...probe, MAIN], {
    env: { PATH: process.env.PATH, CLOCK_SKEW_MS: `${clockSkewMs}`, ...environment },
    stdio: ["ignore", "pipe", "pipe", ...(measuresMemory ? (["ipc"] as const) : [])],
  });
  let output = "";
  const ready = Promise.withResolvers<string>();
  const ended = Promise.withResolvers<number>();
  const onOutput = (chunk: Buffer) => {
    output += chunk.toString();
    const url = /Tradewire is ready[\s\S]*?(http:\/\/127\.0\.0\.1:\d+)/.exec(output)?.[1];
    if (url !== undefined) ready.resolve(url);
  };
  child.stdout!.on("data", onOutput);
  child.stderr!.on("data", onOutput);
  child.once("exit", (code) => {
    ended.resolve(code ?? -1);
    ready.reject(new Error(`${name} ended at its start:\n${output}`));
  });
  const timer = setTimeout(() => {
    ready.reject(new Error(`${name} is not ready:\n${output}`));
    child.kill("SIGKILL");
  }, START_MS);
  const url = await ready.promise.finally(() => clearTimeout(timer));
  return {
    name,
    url,
    output: () => output,
    pid: child.pid!,
    get isRunning() {
      return child.exitCode === null && child.signalCode === null;
    },
    usage: () => usageOf(child.pid!),
    async heldMemory() {
      const answer = once(child, "message");
      child.send({});
      const [memory] = await answer;
      return memory as HeldMemory;
    },
    async metric(name) {
      const admin = /(http:\/\/[^\s]+)\/metrics/.exec(output)![1]!;
      const text = await (await fetch(`${admin}/metrics`)).text();
      const lines = text.split("\n").filter((line) => line.startsWith(name) && /^[{ ]/.test(line.slice(name.length)));
      return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
    },
    async kill() {
      child.kill("SIGKILL");
      await ended.promise;
    },
    async stop() {
      child.kill("SIGTERM");
      return ended.promise;
    },
  };
}

function usageOf(pid: number): { residentBytes: number; openFiles: number } {
  if (!existsSync(`/proc/${pid}/status`)) return { residentBytes: 0, openFiles: 0 };
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(status)?.[1];
  return { residentBytes: Number(kilobytes ?? 0) * 1024, openFiles: readdirSync(`/proc/${pid}/fd`).length };
}
