import cluster, { type Worker } from "node:cluster";
import { takeBackConnections } from "./handed-connections.ts";

/** Where workers are reported. A pino logger is one. */
interface WorkersLogger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

/** Processes of this machine that share the service's port. */
export interface Workers {
  /**
   * Replaces the workers one by one: each successor serves before its predecessor stops. A second call during a restart
   * starts another one afterwards.
   */
  restart(): Promise<void>;
  /** Stops all of them, each after its pending calls. */
  close(): Promise<void>;
}

interface WorkersOptions {
  readonly count: number;
  /** Environment of the worker at an index from 0. */
  readonly environment: (index: number) => Readonly<Record<string, string>>;
  /** Receives what workers send, except WORKER_READY and what is for the others. */
  readonly onMessage?: (message: unknown) => void;
  /** True for a message that is passed on to every other worker. */
  readonly isForOthers?: (message: unknown) => boolean;
  readonly logger: WorkersLogger;
  /** Longest time that a worker may take to serve before it is killed; default 10 minutes. Milliseconds. */
  readonly startMs?: number;
  /** Longest time that a worker may take to end before it is killed. Milliseconds. */
  readonly endMs: number;
}

/** Message that a worker sends once it serves. */
export const WORKER_READY = "ready";

/** Message to a worker whose successor serves, before it is asked to stop: its admin port is the successor's from now on. */
export const WORKER_REPLACED = "replaced";

/** Delay before a worker that exited on its own is replaced, so that one that cannot start does not spin. */
const REPLACE_AFTER_MS = 500;

/** Far above what the largest database and slow nodes need: a worker that takes longer hangs. Milliseconds. */
const START_MS = 600_000;

/** Messages that may wait for a worker: seconds of them, and a few MiB. */
const MOST_UNSENT = 2_000;

/** Starts workers that run this same program, and resolves once all of them serve. @throws Error if one exits before that */
export async function startWorkers(options: WorkersOptions): Promise<Workers> {
  const places = new WorkerPlaces(options);
  await places.fill();
  return places;
}

/** The places of the workers, by index: each has one worker that serves, or a successor that is about to. */
class WorkerPlaces implements Workers {
  readonly #options: WorkersOptions;
  /** The worker that serves at each index. */
  readonly #serving = new Map<number, Worker>();
  /** Includes those that do not serve yet. */
  readonly #alive = new Set<Worker>();
  /** Settles once the restarts asked for so far have ended. */
  #restarted: Promise<void> = Promise.resolve();
  #isClosing = false;

  constructor(options: WorkersOptions) {
    this.#options = options;
  }

  /** Starts a worker at each index. */
  async fill(): Promise<void> {
    await Promise.all(Array.from({ length: this.#options.count }, (_, index) => this.#start(index)));
  }

  restart(): Promise<void> {
    const next = this.#restarted.then(() => this.#replaceAll());
    this.#restarted = next.catch(() => {});
    return next;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all([...this.#alive].map((worker) => end(worker, this.#options.endMs)));
  }

  async #replaceAll(): Promise<void> {
    const { count, logger } = this.#options;
    for (let index = 0; index < count; index++) {
      if (this.#isClosing) return;
      await this.#start(index);
    }
    logger.info({ count }, "every worker has been replaced");
  }

  /** Starts a worker for an index and, once it serves, stops the previous one. @throws Error if it does not come to serve */
  async #start(index: number): Promise<void> {
    const { environment, endMs } = this.#options;
    const worker = cluster.fork(environment(index));
    this.#alive.add(worker);
    worker.once("exit", () => this.#alive.delete(worker));
    takeBackConnections(worker.process, () => this.#hasOther(worker));
    await this.#served(worker);
    const before = this.#serving.get(index);
    this.#serving.set(index, worker);
    worker.once("exit", (code, signal) => this.#noteExit(index, worker, { code, signal }));
    if (before === undefined) return;
    await tellReplaced(before);
    await end(before, endMs);
  }

  /** True if another worker than this one serves and can be handed connections. */
  #hasOther(worker: Worker): boolean {
    return [...this.#serving.values()].some((other) => other !== worker && other.isConnected());
  }

  /** Resolves once the worker says that it serves. @throws Error if it ends before that, or takes too long, which ends it */
  async #served(worker: Worker): Promise<void> {
    const { startMs = START_MS } = this.#options;
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      worker.process.kill("SIGKILL");
    }, startMs);
    const served = new Promise<void>((resolve, reject) => {
      worker.once("exit", (code, signal) => {
        const how = signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
        reject(new Error(`A worker ${isLate ? `did not serve within ${startMs} ms` : `${how} before it served`}.`));
      });
      // Without a listener, a worker that the system cannot start would end this process.
      worker.on("error", (error) => {
        if (worker.process.pid === undefined) {
          this.#alive.delete(worker);
          worker.process.disconnect();
        }
        reject(error);
      });
      worker.on("message", (message) => {
        if (message === WORKER_READY) resolve();
        else this.#receive(message, worker);
      });
    });
    await served.finally(() => clearTimeout(timer));
  }

  /** Takes what a worker sends: for the others, or for the primary. */
  #receive(message: unknown, from: Worker): void {
    const { isForOthers, onMessage } = this.#options;
    if (isForOthers?.(message) !== true) onMessage?.(message);
    else for (const worker of this.#alive) if (worker !== from) tell(worker, message as object);
  }

  /** Replaces a worker that has exited by itself. */
  #noteExit(index: number, worker: Worker, facts: { readonly code: number; readonly signal: string }): void {
    if (this.#isClosing || this.#serving.get(index) !== worker) return;
    this.#serving.delete(index);
    this.#options.logger.warn({ index, ...facts }, "a worker exited; replacing it");
    setTimeout(() => this.#replace(index), REPLACE_AFTER_MS);
  }

  #replace(index: number): void {
    if (this.#isClosing || this.#serving.has(index)) return;
    this.#start(index).catch((error: unknown) => {
      this.#options.logger.warn({ index, err: error }, "a worker cannot start");
      setTimeout(() => this.#replace(index), REPLACE_AFTER_MS);
    });
  }
}

/** Messages on their way to each worker. */
const unsent = new WeakMap<Worker, number>();

/** Sends a message, unless the worker is gone, or has read none of so many that it must hang. */
function tell(worker: Worker, message: object): void {
  const waiting = unsent.get(worker) ?? 0;
  if (!worker.isConnected() || waiting >= MOST_UNSENT) return;
  unsent.set(worker, waiting + 1);
  // With a callback, a worker that ends meanwhile raises no error here.
  worker.send(message, () => unsent.set(worker, unsent.get(worker)! - 1));
}

/** Resolves once the worker has been sent it, or is gone. */
function tellReplaced(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    if (worker.isConnected()) worker.send(WORKER_REPLACED, () => resolve());
    else resolve();
  });
}

/** SIGTERM lets a worker finish its pending calls. One that hangs is killed after `endMs`: it would hold up the others. */
function end(worker: Worker, endMs: number): Promise<void> {
  if (worker.isDead()) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => worker.process.kill("SIGKILL"), endMs);
    worker.once("exit", () => {
      clearTimeout(timer);
      resolve();
    });
    worker.process.kill("SIGTERM");
  });
}
