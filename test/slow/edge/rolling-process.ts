/** Two workers on one port that are replaced again and again. Argument: how many replacements. */
import cluster from "node:cluster";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { startWorkers, WORKER_READY } from "../../../src/process/workers.ts";

/** Longer than a caller who is held up leaves a connection idle that is in use. */
const LAME_DUCK_MS = 1_000;

if (cluster.isPrimary) {
  const port = await freePort();
  const exitMs: number[] = [];
  cluster.on("fork", (worker) => {
    const { process: child } = worker;
    const kill = child.kill.bind(child);
    child.kill = (signal) => {
      const askedMs = performance.now();
      worker.once("exit", () => exitMs.push(performance.now() - askedMs));
      return kill(signal);
    };
  });
  const quiet = { info() {}, warn() {} };
  const workers = await startWorkers({
    count: 2,
    environment: () => ({ EDGE_PORT: `${port}` }),
    logger: quiet,
    endMs: 60_000,
  });
  process.once("message", async () => {
    while (exitMs.length < Number(process.argv[2])) await workers.restart();
    process.send!({ exitMs });
  });
  process.send!({ port });
} else {
  const { createEdge } = await import("./edge-process.ts");
  const api = await createEdge({ submitMs: 600, settings: { port: Number(process.env.EDGE_PORT) } });
  await api.listen();
  process.on("SIGTERM", async () => {
    api.drain();
    await sleep(LAME_DUCK_MS);
    await api.close();
    process.exit(0);
  });
  process.send!(WORKER_READY);
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
