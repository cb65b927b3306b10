import { once } from "node:events";
import http2 from "node:http2";
import net from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { callText } from "../../../test/slow/edge/sockets.ts";
import { DEFAULT_API_SETTINGS } from "../../../test/support/api-settings.ts";
import { type Edge, startEdge } from "../../../test/support/edge.ts";
import { ALICE, BOB, TOKEN } from "../../../test/support/fake-trades.ts";
import type { ApiSettings } from "../settings.ts";

let edge: Edge | undefined;
let client: net.Socket | undefined;
afterEach(async () => {
  client?.destroy();
  await edge?.close();
  edge = undefined;
});

const buy = (key = ALICE.key) =>
  callText({
    path: "/v1/tx/buy",
    body: { mint: TOKEN.toString(), solAmount: 0.1, slippage: 0.01, priority: "fast" },
    key,
  });

/** Asks one request after another on one connection. @param nowMs the clock of limits */
async function connect(changes: Partial<ApiSettings>, nowMs?: () => number) {
  edge = await startEdge(changes, nowMs);
  const socket = net.connect(edge.port, "127.0.0.1");
  client = socket;
  return (text: string) =>
    new Promise<string>((resolve) => {
      let answer = "";
      const read = (chunk: Buffer) => {
        answer += chunk.toString("latin1");
        const end = answer.indexOf("\r\n\r\n");
        const length = Number(/\r\ncontent-length: (\d+)/i.exec(answer)?.[1]);
        if (end === -1 || answer.length < end + 4 + length) return;
        socket.off("data", read);
        resolve(answer);
      };
      socket.on("data", read);
      socket.write(text);
    });
}

const statusOf = (answer: string) => Number(answer.slice(9, 12));
/** What all refusals of a kind have in common. */
const alike = (answer: string) =>
  answer
    .replace(/req_test_\w+/g, "id")
    .replace(/^(date|content-length|server-timing): .*$/gim, "$1")
    .split("\r\n")
    .map((line, i) => (i === 0 ? line : line.replace(/^[\w-]+:/, (name) => name.toLowerCase())))
    .sort();

it("refuses unknown keys on connections that were refused under overload", async () => {
  const admission = { ...DEFAULT_API_SETTINGS.admission, buildsAtOnce: 0 };
  const ask = await connect({ admission });
  for (let i = 0; i < 3; i++) expect(statusOf(await ask(buy()))).toBe(503);
  const submit = callText({ path: "/v1/tx/submit", body: {}, key: `${ALICE.key}x` });
  for (let i = 0; i < 3; i++) expect(statusOf(await ask(submit))).toBe(401);
  expect(statusOf(await ask(buy()))).toBe(503);
});

it("refuses builds again under overload", async () => {
  const ask = await connect({ admission: { ...DEFAULT_API_SETTINGS.admission, buildsAtOnce: 0 } });
  let byServer = 0;
  edge!.fastify.server.on("request", () => byServer++);
  const answers: string[] = [];
  for (let i = 0; i < 5; i++) answers.push(await ask(buy()));
  expect(answers.map(statusOf)).toEqual([503, 503, 503, 503, 503]);
  expect(byServer).toBe(2);
  // One with a long body is refused as any call is, once it is known who sends it.
  const long = { mint: TOKEN.toString(), pad: "x".repeat(4_096) };
  expect(await ask(callText({ path: "/v1/tx/buy", body: long, key: ALICE.key }))).toMatch(/\r\nServer-Timing: /);
  expect(byServer).toBe(2);
  for (const again of answers.slice(1)) expect(alike(again)).toEqual(alike(answers[0]!));
  expect(edge!.load().shed).toBe(6);
  expect(statusOf(await ask(callText({ path: "/v1/tx/submit", body: {}, key: ALICE.key })))).toBe(400);
});

it("leaves an HTTP/2 stream open under overload, for a client that is yet to send the body", async () => {
  edge = await startEdge({ admission: { ...DEFAULT_API_SETTINGS.admission, buildsAtOnce: 0 } });
  // The server's patience with such a client, which a busy machine could use up.
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  const session = http2.connect(`http://127.0.0.1:${edge.port}`);
  try {
    const body = JSON.stringify({ mint: TOKEN.toString(), solAmount: 0.1, slippage: 0.01, priority: "fast" });
    const stream = session.request({
      ":method": "POST",
      ":path": "/v1/tx/buy",
      authorization: `Bearer ${ALICE.key}`,
      "content-type": "application/json",
      "content-length": body.length,
    });
    const [head] = await once(stream, "response");
    expect(head[":status"]).toBe(503);
    let answer = "";
    for await (const chunk of stream.setEncoding("utf8")) answer += chunk;
    expect(JSON.parse(answer).error.code).toBe("OVERLOADED");
    // Answered after whatever the first answer was followed by.
    await once(session.request({ ":path": "/v1/ping" }).resume(), "close");
    expect(stream.aborted).toBe(false);
    const closed = once(stream, "close");
    stream.end(body);
    await closed;
    expect(stream.aborted).toBe(false);
    expect(edge.load().shed).toBe(1);
  } finally {
    session.destroy();
    vi.useRealTimers();
  }
});

it("refuses calls beyond a limit again, alike, and serves them as soon as there is room", async () => {
  const limits = { ...DEFAULT_API_SETTINGS.limits, build: 1, submit: 1, burstSeconds: 1 };
  let nowMs = 1_000;
  const ask = await connect({ limits }, () => nowMs);
  for (let i = 0; i < 2; i++) await ask(buy(BOB.key));
  const calls = { 200: buy(), 400: callText({ path: "/v1/tx/submit", body: {}, key: ALICE.key }) };
  for (const [status, call] of Object.entries(calls)) {
    expect(statusOf(await ask(call))).toBe(Number(status));
    const refused: string[] = [];
    for (let i = 0; i < 6; i++) refused.push(await ask(call));
    expect(refused.map(statusOf)).toEqual(Array(6).fill(429));
    const text = (answer: string) => alike(answer).map((line) => line.replace(/"retryAfterMs":\d+/, "retry"));
    for (const again of refused.slice(1)) expect(text(again)).toEqual(text(refused[0]!));
  }
  expect(statusOf(await ask(buy(`${ALICE.key}x`)))).toBe(401);
  // Another key of the same connection has its own limit.
  expect(statusOf(await ask(buy(BOB.key)))).toBe(429);
  nowMs += 1_000;
  expect(statusOf(await ask(buy()))).toBe(200);
});
