import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface ShadowProcessOptions {
  /** Memory above which the process is ended and started afresh. MiB. */
  readonly memoryMiB: number;
  /** Processor time that routine checks may take. Percent of one core. */
  readonly cpuPercent: number;
  readonly warn: (message: string) => void;
  /** A monotonic clock. */
  readonly nowMs: () => number;
  /** What the process runs. */
  readonly entry?: URL;
  /** Silence after which it is taken to hang, and killed. Milliseconds, default 20,000. */
  readonly hangingMs?: number;
}

/** The shadow process of this machine: started, kept within its memory, started again when it ends. */
export interface ShadowProcess {
  /** Where it listens. */
  readonly path: string;
  /** Id of the process that runs now; undefined between two. */
  pid(): number | undefined;
  close(): Promise<void>;
}

const FIRST_RESTART_MS = 100;
const MAX_RESTART_MS = 10_000;
/** A process that ran this long starts again without delay. */
const HEALTHY_MS = 60_000;
const WATCH_MS = 1_000;
const DEFAULT_HANGING_MS = 20_000;
const PAGE_BYTES = 4_096;
/** It ends itself at its memory bound, between two checks; past this multiple of it, it is killed. */
const KILL_FACTOR = 1.5;

/** Starts the shadow process. It shares nothing with this one but a socket: however it ends, trades go on. */
export function startShadowProcess(options: ShadowProcessOptions): ShadowProcess {
  return new SupervisedProcess(options);
}

class SupervisedProcess implements ShadowProcess {
  readonly path: string;
  readonly #options: ShadowProcessOptions;
  readonly #folder: string;
  readonly #watch: NodeJS.Timeout;
  #child: ChildProcess | undefined;
  #restart: NodeJS.Timeout | undefined;
  #delayMs = FIRST_RESTART_MS;
  #isClosed = false;
  #aliveAtMs = 0;

  constructor(options: ShadowProcessOptions) {
    this.#options = options;
    // Only this user can enter the folder, so nobody else can speak to the process.
    this.#folder = mkdtempSync(join(tmpdir(), "tradewire-shadow-"));
    this.path = join(this.#folder, "socket");
    this.#watch = setInterval(() => this.#watchChild(), WATCH_MS);
    this.#watch.unref();
    this.#start();
  }

  pid(): number | undefined {
    return this.#child?.pid;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#watch);
    clearTimeout(this.#restart);
    const child = this.#child;
    if (child !== undefined) {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #start(): void {
    const { warn, nowMs } = this.#options;
    const startedAtMs = nowMs();
    let isOver = false;
    const onEnd = (reason: string) => {
      if (isOver) return;
      isOver = true;
      this.#child = undefined;
      if (this.#isClosed) return;
      const isHealthy = nowMs() - startedAtMs > HEALTHY_MS;
      this.#delayMs = isHealthy ? FIRST_RESTART_MS : Math.min(2 * this.#delayMs, MAX_RESTART_MS);
      warn(`The shadow process ended (${reason}); starting it again. Trades go on.`);
      this.#restart = setTimeout(() => this.#start(), this.#delayMs);
      this.#restart.unref();
    };
    try {
      this.#child = this.#fork(onEnd);
      this.#aliveAtMs = startedAtMs;
    } catch (error) {
      // A machine out of memory refuses some starts at once.
      onEnd(String(error));
    }
  }

  /** @throws Error if the system refuses at once; later ends are reported */
  #fork(onEnd: (reason: string) => void): ChildProcess {
    const { entry = new URL("./main.ts", import.meta.url), memoryMiB, cpuPercent, nowMs } = this.#options;
    rmSync(this.path, { force: true });
    const child = fork(entry, [this.path, `${memoryMiB}`, `${cpuPercent}`], {
      execArgv: [`--max-old-space-size=${Math.ceil(memoryMiB / 2)}`, "--disable-warning=ExperimentalWarning"],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      // It needs nothing of the environment, least of all the secrets in it.
      env: {},
    });
    child.on("message", () => {
      this.#aliveAtMs = nowMs();
    });
    child.once("exit", (code, signal) => onEnd(signal ?? `code ${code}`));
    child.once("error", (error) => onEnd(error.message));
    // The process must not keep this one alive.
    child.unref();
    child.channel?.unref();
    return child;
  }

  #watchChild(): void {
    const child = this.#child;
    const pid = child?.pid;
    if (child === undefined || pid === undefined) return;
    const { hangingMs = DEFAULT_HANGING_MS, nowMs } = this.#options;
    if (nowMs() - this.#aliveAtMs > hangingMs) child.kill("SIGKILL");
    else if (child.connected) child.send("alive?", () => {});
    try {
      const pages = Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]);
      if (pages * PAGE_BYTES > this.#options.memoryMiB * 2 ** 20 * KILL_FACTOR) this.#child?.kill("SIGKILL");
    } catch {
      // Only Linux shows it; the process also ends itself between two checks.
    }
  }
}
