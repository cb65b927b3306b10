import { fork } from "node:child_process";
import http from "node:http";
import { fileURLToPath } from "node:url";
import { it } from "vitest";
import { ALICE, BOB, TOKEN } from "../../support/fake-trades.ts";
import { type Call, callOnce, type Sample } from "./load.ts";
import { ms, report } from "./table.ts";

const buy: Call = {
  path: "/v1/tx/buy",
  body: { mint: TOKEN.toString(), solAmount: 0.1, slippage: 0.01, priority: "fast" },
  key: ALICE.key,
};
/** Refused for its token after everything a submit goes through at the edge. */
const submit: Call = {
  path: "/v1/tx/submit",
  body: { submissionToken: "token_x", signedTransaction: "AA==" },
  key: BOB.key,
};

/** Restarts a service's workers so often, one after another, while it is called 200 times a second. */
async function roll(restarts: number): Promise<{ readonly exitMs: readonly number[]; readonly answers: Sample[] }> {
  const service = fork(fileURLToPath(new URL("./rolling-process.ts", import.meta.url)), [`${restarts}`], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const next = <T>() => new Promise<T>((resolve) => service.once("message", (message) => resolve(message as T)));
  const { port } = await next<{ port: number }>();
  // Round robin, so that no connection is idle for long: an idle one may be closed at any time.
  const agent = new http.Agent({ keepAlive: true, maxSockets: 24, scheduling: "fifo" });
  const samples: Promise<Sample>[] = [];
  let sent = 0;
  const timer = setInterval(() => {
    samples.push(callOnce(port, sent++ % 2 === 0 ? buy : { path: "/v1/ping" }, agent));
    // Submits in flight when their process is stopped.
    if (sent % 40 === 0) samples.push(callOnce(port, submit, agent));
  }, 5);
  service.send("restart");
  const { exitMs } = await next<{ exitMs: number[] }>();
  clearInterval(timer);
  const answers = await Promise.all(samples);
  agent.destroy();
  service.kill("SIGKILL");
  return { exitMs, answers };
}

it("33: rolling restarts lose no request", async () => {
  const restarts = Number(process.env.EDGE_RESTARTS ?? 100);
  // Two services at once: a restart mostly waits.
  const half = Math.ceil(restarts / 2);
  const rolled = await Promise.all([roll(half), roll(half)]);
  const answers = rolled.flatMap((each) => each.answers);
  const exitMs = rolled.flatMap((each) => each.exitMs);
  const lost = answers.filter(({ error }) => error !== undefined);
  const wrong = answers.filter(({ error, status }) => error === undefined && status !== 200 && status !== 400);
  report(
    33,
    "Rolling restarts under load, connections kept alive",
    "100 restarts at 200 calls/s: 0 lost; exit ≤ 30 s",
    `${exitMs.length} restarts of two services, ${answers.length} calls: ${lost.length} lost ${[...new Set(lost.map(({ error }) => error))].join(", ")}, ${wrong.length} refused; longest exit ${ms(Math.max(...exitMs))}`,
    exitMs.length >= restarts && lost.length === 0 && wrong.length === 0 && Math.max(...exitMs) <= 30_000,
  );
}, 1_200_000);
