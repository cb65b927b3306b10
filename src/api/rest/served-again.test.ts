import { once } from "node:events";
import net from "node:net";
import { afterEach, expect, it } from "vitest";
import { callText } from "../../../test/slow/edge/sockets.ts";
import { type Edge, startEdge } from "../../../test/support/edge.ts";
import { ALICE, TOKEN } from "../../../test/support/fake-trades.ts";
import type { BuiltTrade } from "../../trade/trade.ts";

let edge: Edge;
let client: net.Socket;
afterEach(async () => {
  client.destroy();
  await edge.close();
});

const GOOD = { mint: TOKEN.toString(), solAmount: 0.1, slippage: 0.01, priority: "fast" };
const buy = (body: object = GOOD, key = ALICE.key, path = "/v1/tx/buy") => callText({ path, body, key });

/** A connection, and how to ask on it; `whole` counts the requests that Node's own server has read. */
async function connect() {
  edge = await startEdge();
  client = net.connect(edge.port, "127.0.0.1");
  await once(client, "connect");
  const seen = { byServer: 0 };
  edge.fastify.server.on("request", () => seen.byServer++);
  const until = (isWhole: (text: string) => boolean) =>
    new Promise<string>((resolve) => {
      let text = "";
      const read = (chunk: Buffer) => {
        text += chunk.toString("latin1");
        if (!isWhole(text)) return;
        client.off("data", read);
        resolve(text);
      };
      client.on("data", read);
    });
  const ask = async (text: string) => {
    const answer = until(isAnswer);
    client.write(text);
    return answer;
  };
  return { ask, seen, until };
}

function isAnswer(text: string): boolean {
  const end = text.indexOf("\r\n\r\n");
  return end !== -1 && text.length >= end + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1]);
}

/** What does not differ from call to call, without regard to the case of header names. */
const alike = (answer: string) =>
  answer
    .replace(/req_test_\w+/g, "id")
    .replace(/token_\d+/g, "token")
    .replace(/"unsignedTransaction":"[^"]+"/, "")
    .replace(/^(date|server-timing|content-length|ratelimit): .*$/gim, "$1")
    .split("\r\n")
    .map((line) => line.replace(/^[\w-]+:/, (name) => name.toLowerCase()));

it("answers from its third request on from the bytes, in the very words of the server", async () => {
  const { ask, seen } = await connect();
  const answers: string[] = [];
  for (let i = 0; i < 6; i++) answers.push(await ask(buy()));
  expect(seen.byServer).toBe(2);
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  for (const answer of answers.slice(1)) expect(alike(answer)).toEqual(alike(answers[0]!));
  expect(answers[5]).toMatch(/Server-Timing: receive;dur=/);
  expect(answers[5]).toMatch(/RateLimit: "build";r=\d+;t=1\r\n/);
});

it("refuses in the words of the server too, whatever is wrong", async () => {
  const wrong = [
    buy({ ...GOOD, slippage: 7 }),
    buy({ ...GOOD, mint: "naïve ☕" }),
    buy({ ...GOOD, solAmount: 1e30 }),
    buy({ ...GOOD, unknown: 1 }),
    buy(GOOD, "api_nobody"),
    buy(GOOD, ""),
    buy().replace(/Authorization: .*\r\n/i, ""),
    buy().replace("application/json", "text/plain"),
    buy().replace("{", "["),
    buy(GOOD, ALICE.key, "/v1/tx/none"),
    buy(GOOD, ALICE.key, "/v1/quote"),
  ];
  const { ask, seen } = await connect();
  const first: string[] = [];
  for (const text of wrong) {
    const other = net.connect(edge.port, "127.0.0.1");
    other.write(text);
    let answer = "";
    for await (const chunk of other) {
      answer += (chunk as Buffer).toString("latin1");
      if (isAnswer(answer)) break;
    }
    first.push(answer);
  }
  for (let i = 0; i < 3; i++) await ask(buy());
  const before = seen.byServer;
  for (const [index, text] of wrong.entries()) expect(alike(await ask(text)), text).toEqual(alike(first[index]!));
  // Only the path that is none, and headers that only a server should judge, went to it.
  expect(seen.byServer - before).toBeLessThan(wrong.length / 2);
});

it("lets the server finish a build that has to wait, once, while the connection stays in step", async () => {
  const { ask, seen } = await connect();
  for (let i = 0; i < 3; i++) await ask(buy());
  expect(seen.byServer).toBe(2);
  const build = edge.trades.build.bind(edge.trades);
  const waiting: (() => void)[] = [];
  Object.assign(edge.trades, {
    build: (request: Parameters<typeof build>[0]) =>
      new Promise<BuiltTrade>((resolve) => waiting.push(() => resolve(build(request) as BuiltTrade))),
  });
  const answer = ask(buy());
  while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(edge.load().builds).toBe(1);
  waiting[0]!();
  expect(await answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(waiting).toHaveLength(1);
  expect(edge.load().builds).toBe(0);
  Object.assign(edge.trades, { build: () => Promise.reject(new Error("broken")) });
  expect(await ask(buy())).toMatch(/^HTTP\/1\.1 500 /);
  Object.assign(edge.trades, { build });
  const before = seen.byServer;
  expect(await ask(buy())).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(seen.byServer).toBe(before);
});

it("answers a build that waits while the service closes, and ends the connection after it", async () => {
  const { ask, until } = await connect();
  for (let i = 0; i < 3; i++) await ask(buy());
  const build = edge.trades.build.bind(edge.trades);
  const waiting: (() => void)[] = [];
  Object.assign(edge.trades, {
    build: (request: Parameters<typeof build>[0]) =>
      new Promise<BuiltTrade>((resolve) => waiting.push(() => resolve(build(request) as BuiltTrade))),
  });
  const answer = until(isAnswer);
  client.write(buy());
  while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const closed = edge.close();
  const ended = once(client, "end");
  waiting[0]!();
  expect(await answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  await ended;
  await closed;
});

it("answers requests sent at once, in pieces or after another one in order, each once", async () => {
  const { ask, until } = await connect();
  for (let i = 0; i < 3; i++) await ask(buy());
  const text = buy();
  const all = until((got) => (got.match(/"success":true/g) ?? []).length === 5 && got.endsWith("}"));
  client.write(text.slice(0, 40));
  await new Promise((resolve) => setImmediate(resolve));
  client.write(text.slice(40) + text + text.slice(0, 70));
  await new Promise((resolve) => setImmediate(resolve));
  client.write(text.slice(70) + text);
  client.write(text);
  const tokens = [...(await all).matchAll(/token_(\d+)/g)].map(([, number]) => Number(number));
  expect(tokens).toEqual([3, 4, 5, 6, 7]);
});

it.each([0, 1, 2, 3])(
  "answers hundreds of requests sent at once after %d others, each once and in order",
  async (before) => {
    const { ask, until } = await connect();
    for (let i = 0; i < before; i++) await ask(buy());
    const all = until((got) => (got.match(/"success":true/g) ?? []).length === 400 && got.endsWith("}"));
    client.write(buy().repeat(400));
    const tokens = [...(await all).matchAll(/token_(\d+)/g)].map(([, number]) => Number(number));
    expect(tokens).toEqual(Array.from({ length: 400 }, (_, index) => before + index));
    expect(await ask(buy())).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  },
);
