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
export async function startWorkers({
  count,
  environment,
  onMessage,
  isForOthers = () => false,
  logger,
  startMs = START_MS,
  endMs,
}: WorkersOptions): Promise<Workers> {
  const running = new Map<number, Worker>();
  /** Includes those that do not serve yet. */
  const alive = new Set<Worker>();
  let closing = false;
  const passOn = (message: unknown, from: Worker): void => {
    for (const worker of alive) if (worker !== from) tell(worker, message as object);
  };

  /** Starts a worker for an index and, once it serves, stops the previous one: each index has one worker. */
  const start = async (index: number): Promise<void> => {
    const worker = cluster.fork(environment(index));
    alive.add(worker);
    worker.once("exit", () => alive.delete(worker));
    takeBackConnections(worker.process, () =>
      [...running.values()].some((other) => other !== worker && other.isConnected()),
    );
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
          alive.delete(worker);
          worker.process.disconnect();
        }
        reject(error);
      });
      worker.on("message", (message) => {
        if (message === WORKER_READY) resolve();
        else if (isForOthers(message)) passOn(message, worker);
        else onMessage?.(message);
      });
    });
    await served.finally(() => clearTimeout(timer));
    const before = running.get(index);
    running.set(index, worker);
    worker.once("exit", (code, signal) => {
      if (closing || running.get(index) !== worker) return;
      running.delete(index);
      logger.warn({ index, code, signal }, "a worker exited; replacing it");
      setTimeout(() => replace(index), REPLACE_AFTER_MS);
    });
    if (before === undefined) return;
    await tellReplaced(before);
    await end(before, endMs);
  };
  const replace = (index: number): void => {
    if (closing || running.has(index)) return;
    start(index).catch((error: unknown) => {
      logger.warn({ index, err: error }, "a worker cannot start");
      setTimeout(() => replace(index), REPLACE_AFTER_MS);
    });
  };

  const replaceAll = async (): Promise<void> => {
    for (let index = 0; index < count; index++) {
      if (closing) return;
      await start(index);
    }
    logger.info({ count }, "every worker has been replaced");
  };
  let restarted: Promise<void> = Promise.resolve();

  await Promise.all(Array.from({ length: count }, (_, index) => start(index)));
  return {
    restart() {
      const next = restarted.then(replaceAll);
      restarted = next.catch(() => {});
      return next;
    },
    async close() {
      closing = true;
      await Promise.all([...alive].map((worker) => end(worker, endMs)));
    },
  };
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
