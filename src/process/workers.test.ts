import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { freePorts } from "../../test/support/free-ports.ts";

const folder = mkdtempSync(join(tmpdir(), "tradewire-workers-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs code in a primary with two workers, idle ones unless they are given something to do, and returns what it prints as JSON. */
async function run(
  story: string,
  work = 'process.on("SIGTERM", () => process.exit(0));',
  times = { startMs: 60_000, endMs: 60_000 },
  more = "",
): Promise<unknown> {
  const program = join(folder, "primary.mjs");
  writeFileSync(
    program,
    `
    import cluster from "node:cluster";
    import net from "node:net";
    import { setTimeout as sleep } from "node:timers/promises";
    import { startWorkers, WORKER_READY } from ${JSON.stringify(new URL("workers.ts", import.meta.url).href)};
    if (cluster.isWorker) {
      ${work}
      setTimeout(() => process.send(WORKER_READY), 50);
    } else {
      const alive = () => Object.values(cluster.workers).map(({ id }) => id).sort((a, b) => a - b);
      const logger = { info() {}, warn() {} };
      const port = ${await freePorts(1)};
      const workers = await startWorkers({ count: 2, logger, environment: () => ({ PORT: String(port) }), ...${JSON.stringify(times)}, ${more} });
      ${story}
      await workers.close();
      process.exit(0);
    }
    `,
  );
  const child = spawn(process.execPath, [program], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
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

test("what is for the others reaches every other worker that serves, and not the one that sent it", async () => {
  const heard = await run(
    `
    const heard = [];
    for (const worker of Object.values(cluster.workers)) {
      worker.on("message", ({ from, to }) => { if (to !== undefined) heard.push([from, to]); });
      worker.process.send({ ask: true });
    }
    while (heard.length < 2) await sleep(10);
    cluster.workers[1].process.kill("SIGKILL");
    cluster.workers[2].process.send({ ask: true });
    while (Object.keys(cluster.workers).length < 2 || cluster.workers[3] === undefined) await sleep(10);
    console.log(JSON.stringify(heard.sort()));
    `,
    `process.on("SIGTERM", () => process.exit(0));
     const { id } = cluster.worker;
     process.on("message", (message) => {
       if (message.ask) process.send({ forOthers: true, from: id });
       else if (message.forOthers) process.send({ from: message.from, to: id });
     });`,
    undefined,
    "isForOthers: (message) => message.forOthers === true",
  );
  expect(heard).toEqual([
    [1, 2],
    [2, 1],
  ]);
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

/** A worker that answers each connection once it has read something of it. */
const ANSWERS = `
  const server = net.createServer((socket) => socket.on("error", () => {}).once("data", (asked) => socket.end(asked)));
  process.on("SIGTERM", () => server.close(() => process.exit(0)));
  server.listen(Number(process.env.PORT), "127.0.0.1");
`;

/** Opens connections as fast as they are answered, four at once, while workers are replaced, and counts how they end. */
const stressed = (replaceWorkers: string): string => `
  const ends = { answered: 0, broken: 0, open: 0 };
  let isOver = false;
  const ask = () => {
    if (isOver) return;
    ends.open++;
    let answer = "";
    const socket = net.connect(port, "127.0.0.1", () => socket.write("x"));
    socket.on("error", () => {}).on("data", (chunk) => { answer += chunk; });
    socket.on("close", () => {
      ends.open--;
      ends[answer === "x" ? "answered" : "broken"]++;
      setImmediate(ask);
    });
  };
  for (let i = 0; i < 4; i++) ask();
  ${replaceWorkers}
  isOver = true;
  for (let waits = 0; ends.open > 0 && waits < 600; waits++) await sleep(100);
  console.log(JSON.stringify(ends));
`;

test("no connection is lost with a worker that is replaced", async () => {
  const ends = await run(stressed("for (let i = 0; i < 5; i++) await workers.restart();"), ANSWERS);
  expect(ends).toMatchObject({ broken: 0, open: 0 });
});

test("a worker that is killed leaves no connection waiting", async () => {
  const ends = await run(
    stressed(`
      const serving = () => Object.values(cluster.workers).filter(({ state }) => state === "listening");
      for (let i = 0; i < 5; i++) {
        while (serving().length < 2) await sleep(20);
        await sleep(200);
        serving()[0].process.kill("SIGKILL");
        await sleep(100);
      }
    `),
    ANSWERS,
  );
  expect(ends).toMatchObject({ open: 0 });
});

test("a successor that a signal ends before it serves is reported with that signal", async () => {
  const reported = await run(
    `
    process.env.FATAL = "yes";
    const error = await workers.restart().catch((error) => error);
    console.log(JSON.stringify(error.message));
    `,
    `if (process.env.FATAL === "yes") process.kill(process.pid, "SIGKILL");
     process.on("SIGTERM", () => process.exit(0));`,
  );
  expect(reported).toBe("A worker was ended by SIGKILL before it served.");
});

test("a successor that the system cannot start ends the restart, not the service", async () => {
  const [refusal, serving] = (await run(`
    const { execPath } = process;
    process.execPath = "/nowhere/node";
    const refusal = await workers.restart().then(() => "none", (error) => error.code);
    process.execPath = execPath;
    console.log(JSON.stringify([refusal, alive()]));
  `)) as [string, number[]];
  expect([refusal, serving]).toEqual(["ENOENT", [1, 2]]);
});

/** Blocks the process when the story says so by a file: it handles no signal then. */
const HANGING = `
  const { existsSync } = await import("node:fs");
  const hang = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  if (existsSync(process.env.PORT + ".start")) hang();
  process.on("SIGTERM", () => (existsSync(process.env.PORT + ".end") ? hang() : process.exit(0)));
`;

test("a successor that hangs before it serves ends the restart, and the next one replaces every worker", async () => {
  const [refusal, first, second] = (await run(
    `
    const { rmSync, writeFileSync } = await import("node:fs");
    writeFileSync(port + ".start", "");
    const refusal = await workers.restart().then(() => "none", (error) => error.message);
    const first = alive();
    rmSync(port + ".start");
    await workers.restart();
    console.log(JSON.stringify([refusal, first, alive()]));
  `,
    HANGING,
    { startMs: 8_000, endMs: 60_000 },
  )) as [string, number[], number[]];
  expect([refusal, first, second]).toEqual(["A worker did not serve within 8000 ms.", [1, 2], [4, 5]]);
});

test("workers that hang when they are replaced or stopped hold up no other and not the end", async () => {
  const serving = await run(
    `
    const { writeFileSync } = await import("node:fs");
    writeFileSync(port + ".end", "");
    await workers.restart();
    console.log(JSON.stringify(alive()));
  `,
    HANGING,
    { startMs: 60_000, endMs: 500 },
  );
  expect(serving).toEqual([3, 4]);
});
