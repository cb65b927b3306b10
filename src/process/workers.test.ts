import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "tradewire-workers-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs code in a primary with two idle workers, and returns what it prints as JSON. */
async function run(story: string): Promise<unknown> {
  const program = join(folder, "primary.mjs");
  writeFileSync(
    program,
    `
    import cluster from "node:cluster";
    import { setTimeout as sleep } from "node:timers/promises";
    import { startWorkers, WORKER_READY } from ${JSON.stringify(new URL("workers.ts", import.meta.url).href)};
    if (cluster.isWorker) {
      process.on("SIGTERM", () => process.exit(0));
      setTimeout(() => process.send(WORKER_READY), 50);
    } else {
      const alive = () => Object.values(cluster.workers).map(({ id }) => id).sort((a, b) => a - b);
      const logger = { info() {}, warn() {} };
      const workers = await startWorkers({ count: 2, logger, environment: () => ({}) });
      ${story}
      await workers.close();
    }
    `,
  );
  const child = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(0);
  return JSON.parse(text);
}

test("two concurrent restarts replace every worker twice and leave none behind", async () => {
  const alive = await run(`
    await Promise.all([workers.restart(), workers.restart()]);
    console.log(JSON.stringify(alive()));
  `);
  expect(alive).toEqual([5, 6]);
});

test("a worker that dies while being replaced is replaced once", async () => {
  const alive = await run(`
    const restarted = workers.restart();
    cluster.workers[1].process.kill("SIGKILL");
    cluster.workers[2].process.kill("SIGKILL");
    await restarted;
    await sleep(1_500);
    console.log(JSON.stringify(alive().length));
  `);
  expect(alive).toBe(2);
});
