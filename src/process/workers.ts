import cluster, { type Worker } from "node:cluster";

/** A log that a pino logger is. */
interface WorkersLogger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

/** Processes of this machine that share the service's port. */
export interface Workers {
  /**
   * Replaces every worker, one after another: the next serves before the last one is told to go. Asked again meanwhile,
   * it replaces all of them once more afterwards.
   */
  restart(): Promise<void>;
  /** Ends all of them, each after its calls under way. */
  close(): Promise<void>;
}

interface WorkersOptions {
  readonly count: number;
  /** Environment of the worker at an index from 0. */
  readonly environment: (index: number) => Readonly<Record<string, string>>;
  /** Hears what workers say beside that they serve. */
  readonly onMessage?: (message: unknown) => void;
  readonly logger: WorkersLogger;
}

/** What a worker says once it serves. */
export const WORKER_READY = "ready";

/** A worker that ends by itself is replaced after this long, so that one that cannot start does not spin. */
const REPLACE_AFTER_MS = 500;

/** Starts workers that run this same program, and resolves when all of them serve. @throws Error when the first ones end instead */
export async function startWorkers({ count, environment, onMessage, logger }: WorkersOptions): Promise<Workers> {
  const running = new Map<number, Worker>();
  /** Those that do not serve yet as well. */
  const alive = new Set<Worker>();
  let closing = false;

  /** Starts a worker; once it serves, whoever had its place is told to go. So each place has one, whoever asked for it. */
  const start = async (index: number): Promise<void> => {
    const worker = cluster.fork(environment(index));
    alive.add(worker);
    worker.once("exit", () => alive.delete(worker));
    await new Promise<void>((resolve, reject) => {
      worker.once("exit", (code) => reject(new Error(`A worker ended with code ${code} before it served.`)));
      worker.on("message", (message) => {
        if (message === WORKER_READY) resolve();
        else onMessage?.(message);
      });
    });
    const before = running.get(index);
    running.set(index, worker);
    worker.once("exit", (code, signal) => {
      if (closing || running.get(index) !== worker) return;
      running.delete(index);
      logger.warn({ index, code, signal }, "a worker ended; another takes its place");
      setTimeout(() => replace(index), REPLACE_AFTER_MS);
    });
    if (before !== undefined) await end(before);
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
      await Promise.all([...alive].map(end));
    },
  };
}

/** SIGTERM lets a worker finish what it has. */
function end(worker: Worker): Promise<void> {
  if (worker.isDead()) return Promise.resolve();
  return new Promise((resolve) => {
    worker.once("exit", () => resolve());
    worker.process.kill("SIGTERM");
  });
}
