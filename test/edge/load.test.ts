import { fork } from "node:child_process";
import http from "node:http";
import { fileURLToPath } from "node:url";
import { afterEach, it } from "vitest";
import { DEFAULT_API_SETTINGS } from "../../src/api/settings.ts";
import { ALICE, BOB, TOKEN } from "../support/fake-trades.ts";
import { type EdgeProcess, startEdgeProcess } from "./edge-process.ts";
import { type Call, callOnce, closedLoop, openLoop, type Sample } from "./load.ts";
import { ms, percentile, report } from "./table.ts";

let edge: EdgeProcess | undefined;
afterEach(async () => {
  await edge?.stop();
  edge = undefined;
});

const BUY = { mint: TOKEN.toString(), solAmount: 0.1, slippage: 0.01, priority: "fast" };
const buy = (key = ALICE.key): Call => ({ path: "/v1/tx/buy", body: BUY, key });
/** Refused for its token after everything a submit goes through at the edge: an answer, where overload would give none. */
const submit: Call = {
  path: "/v1/tx/submit",
  body: { submissionToken: "token_x", signedTransaction: "AA==" },
  key: BOB.key,
};
const p99 = (samples: readonly Sample[]) =>
  percentile(
    samples.map((sample) => sample.ms),
    0.99,
  );
const count = (samples: readonly Sample[], status: number) =>
  samples.filter((sample) => sample.status === status).length;

it("31: five times too many builds leave goodput and submits alone", async () => {
  const buildMs = 4;
  const turn = { ...DEFAULT_API_SETTINGS.admission, buildTurnMs: 20 };
  edge = await startEdgeProcess({ buildMs, settings: { admission: turn } });
  const { port } = edge;
  const seconds = 5;
  const peak = count(await closedLoop(edge.port, 8, seconds * 1_000, () => buy()), 200) / seconds;
  // Callers hold their connections, as the contract has them do: Node takes one new connection per turn of its loop.
  const agent = new http.Agent({ keepAlive: true, maxSockets: 400, maxFreeSockets: 400 });
  const submitAgent = new http.Agent({ keepAlive: true, maxSockets: 20, scheduling: "fifo" });
  const ping = { path: "/v1/ping" };
  await Promise.all([
    ...Array.from({ length: 400 }, () => callOnce(port, ping, agent)),
    ...Array.from({ length: 20 }, () => callOnce(port, ping, submitAgent)),
  ]);
  const untilMs = performance.now() + seconds * 1_000;
  const submits = openLoop(port, 50, seconds * 1_000, () => submit, submitAgent);
  const builds = await openLoop(port, 5 * peak, seconds * 1_000, () => buy(), agent);
  const submitted = await submits;
  agent.destroy();
  submitAgent.destroy();
  const inTime = builds.filter(({ endMs }) => endMs <= untilMs);
  const goodput = count(inTime, 200) / seconds;
  const shed = builds.filter(({ status }) => status === 503);
  const advised = shed.filter(({ headers }) => headers["retry-after"] !== undefined).length;
  const answered = count(submitted, 400);
  report(
    31,
    "Overload: five times the builds that can be made",
    "goodput ≥ 90 % of peak, submits ≥ 99.9 % answered, every refusal with Retry-After",
    `peak ${peak.toFixed(0)}/s, offered ${(builds.length / seconds).toFixed(0)}/s, goodput ${((100 * goodput) / peak).toFixed(0)} %; ${shed.length} refused, ${advised} with Retry-After; submits ${answered} of ${submitted.length}, p99 ${ms(p99(submitted))}`,
    goodput >= 0.9 * peak && answered / submitted.length >= 0.999 && shed.length > 0 && advised === shed.length,
  );
});

it("32: limits hold to their figure, and a neighbour does not feel them", async () => {
  const limits = { ...DEFAULT_API_SETTINGS.limits, build: 200, burstSeconds: 1 };
  edge = await startEdgeProcess({ settings: { limits } });
  const seconds = 6;
  const neighbourAgent = new http.Agent({ keepAlive: true, maxSockets: 2 });
  const alone = await openLoop(edge.port, 50, 2_000, () => buy(BOB.key), neighbourAgent);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
  const startMs = performance.now();
  const neighbour = openLoop(edge.port, 50, seconds * 1_000, () => buy(BOB.key), neighbourAgent);
  const greedy = await openLoop(edge.port, 600, seconds * 1_000, () => buy(), agent);
  const elapsed = (performance.now() - startMs) / 1_000;
  const beside = await neighbour;
  agent.destroy();
  neighbourAgent.destroy();
  const allowed = count(greedy, 200);
  const policy = 200 + 200 * elapsed;
  const off = (100 * (allowed - policy)) / policy;
  const right = greedy.filter(
    ({ status, headers }) =>
      headers["ratelimit-policy"] === '"build";q=200;w=1' &&
      /^"build";r=\d+;t=\d+$/.test(String(headers.ratelimit)) &&
      (status === 200 || (status === 429 && Number(headers["retry-after"]) >= 1)),
  ).length;
  report(
    32,
    "Limits are exact, and fair to neighbours",
    "± 2 % of the policy, headers right 100 %, neighbour's p99 + ≤ 20 %",
    `${allowed} passed of ${policy.toFixed(0)} (${off.toFixed(1)} %), headers right ${right} of ${greedy.length}; neighbour ${count(beside, 200)} of ${beside.length}, p99 ${ms(p99(alone))} → ${ms(p99(beside))}`,
    Math.abs(off) <= 2 &&
      right === greedy.length &&
      count(beside, 200) === beside.length &&
      p99(beside) <= 1.2 * p99(alone),
  );
});

it("33: rolling restarts lose no request", async () => {
  const restarts = Number(process.env.EDGE_RESTARTS ?? 100);
  const service = fork(fileURLToPath(new URL("./rolling-process.ts", import.meta.url)), [`${restarts}`], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const next = <T>() => new Promise<T>((resolve) => service.once("message", (message) => resolve(message as T)));
  const { port } = await next<{ port: number }>();
  const agent = new http.Agent({ keepAlive: true, maxSockets: 20, scheduling: "fifo" });
  const slowAgent = new http.Agent({ keepAlive: true });
  const samples: Promise<Sample>[] = [];
  let sent = 0;
  const timer = setInterval(() => {
    samples.push(callOnce(port, sent++ % 2 === 0 ? buy() : { path: "/v1/ping" }, agent));
    // Submits that are under way when their process is told to go.
    if (sent % 40 === 0) samples.push(callOnce(port, submit, slowAgent));
  }, 5);
  service.send("restart");
  const { exitMs } = await next<{ exitMs: number[] }>();
  clearInterval(timer);
  const answers = await Promise.all(samples);
  agent.destroy();
  slowAgent.destroy();
  service.kill("SIGKILL");
  const lost = answers.filter(({ error }) => error !== undefined);
  const wrong = answers.filter(({ error, status }) => error === undefined && status !== 200 && status !== 400);
  report(
    33,
    "Rolling restarts under load, connections kept alive",
    "100 restarts at 200 calls/s: 0 lost; exit ≤ 30 s",
    `${exitMs.length} restarts, ${answers.length} calls: ${lost.length} lost ${[...new Set(lost.map(({ error }) => error))].join(", ")}, ${wrong.length} refused; longest exit ${ms(Math.max(...exitMs))}`,
    exitMs.length >= restarts && lost.length === 0 && wrong.length === 0 && Math.max(...exitMs) <= 30_000,
  );
}, 600_000);
