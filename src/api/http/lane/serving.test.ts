import { once } from "node:events";
import net from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { BuyRequestSchema } from "../../../../gen/tradewire/v1/trade_pb.ts";
import { Priority } from "../../../../gen/tradewire/v1/types_pb.ts";
import { DEFAULT_API_SETTINGS } from "../../../../test/support/api-settings.ts";
import { type Edge, startEdge } from "../../../../test/support/edge.ts";
import { PATIENCE_MS } from "../../../../test/support/eventually.ts";
import { ALICE, BOB, TOKEN } from "../../../../test/support/fake-trades.ts";
import { createRandom } from "../../../primitives/random.ts";

/** As long as no test lets a connection rest, however slow the machine is. */
const KEEP_ALIVE_MS = 60_000;
/** What one of them waits for. */
const SHORT_KEEP_ALIVE_MS = 5_000;
const RPC = "/tradewire.v1.TradeService/Buy";
const ASKED = { mint: TOKEN.toString(), solAmount: 0.1, slippage: 0.01 };
const REST = JSON.stringify({ ...ASKED, priority: "fast" });

let edge: Edge;
let byServer = 0;
const sockets: net.Socket[] = [];
beforeEach(() => start(KEEP_ALIVE_MS));
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await edge.close();
});

async function start(keepAliveMs: number): Promise<void> {
  // However slow the machine is, no build waits too long.
  const admission = { ...DEFAULT_API_SETTINGS.admission, buildWaitMs: PATIENCE_MS };
  edge = await startEdge({ keepAliveMs, keepAliveHintMs: keepAliveMs, admission });
  byServer = 0;
  edge.fastify.server.on("request", () => byServer++);
}

function proto(): Buffer {
  return Buffer.from(toBinary(BuyRequestSchema, create(BuyRequestSchema, { ...ASKED, priority: Priority.FAST })));
}

function framed(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function request(path: string, type: string, body: string | Buffer, key = ALICE.key, lines = ""): Buffer {
  const bytes = Buffer.from(body);
  const head = `POST ${path} HTTP/1.1\r\nHost: here\r\nAuthorization:  Bearer ${key} \r\nContent-Type: ${type}\r\n${lines}`;
  return Buffer.concat([Buffer.from(`${head}Content-Length: ${bytes.length}\r\n\r\n`), bytes]);
}
const buy = (body = REST, key = ALICE.key) => request("/v1/tx/buy", "application/json", body, key);

/** A connection, and the answers on it so far. */
function connect() {
  // Without delay: what is sent before an answer arrives before it.
  const socket = net.connect({ port: edge.port, host: "127.0.0.1", noDelay: true });
  sockets.push(socket);
  const answers: string[] = [];
  let rest = "";
  socket.setEncoding("latin1").on("data", (chunk) => {
    rest += chunk;
    for (;;) {
      const end = rest.indexOf("\r\n\r\n") + 4;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(rest)?.[1]);
      if (end === 3 || !(rest.length >= end + length)) return;
      answers.push(rest.slice(0, end + length));
      rest = rest.slice(end + length);
      socket.emit("answer");
    }
  });
  const ask = async (bytes: Buffer) => {
    socket.write(bytes);
    await once(socket, "answer");
    return answers.at(-1)!;
  };
  return { socket, answers, ask };
}

/** Without what differs from call to call. */
const alike = (answer: string) =>
  answer
    .replace(/req_test_\w+/g, "id")
    .replace(/^(date|content-length|server-timing|ratelimit): .*$/gim, "$1")
    .replace(/^[\w-]+:/gm, (name) => name.toLowerCase())
    .replace(/"(unsignedTransaction|value)":"[^"]*"/g, "$1")
    .replace(/^grpc-status-details-bin: .*$/m, "details")
    .replace(/(token_|trade )\d+/g, "$1")
    .split("\r\n");

/** The next build waits until it is let go. */
function holdNextBuild() {
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const { build } = edge.trades;
  edge.trades.build = async (asked) => {
    edge.trades.build = build;
    begun.resolve();
    await held.promise;
    return build(asked);
  };
  return { begun: begun.promise, letGo: held.resolve };
}

it("leaves an answer alone that waits in its socket while others are written", async () => {
  const slow = connect();
  const [served] = (await once(edge.fastify.server, "connection")) as [net.Socket];
  const quick = connect();
  for (const { ask } of [slow, quick]) for (let i = 0; i < 4; i++) await ask(buy());
  served.cork();
  slow.socket.write(buy());
  await vi.waitUntil(() => served.writableLength > 0, { interval: 1, timeout: PATIENCE_MS });
  for (let i = 0; i < 20; i++) await quick.ask(buy());
  served.uncork();
  await vi.waitUntil(() => slow.answers.length === 5, { interval: 1, timeout: PATIENCE_MS });
  const last = slow.answers.at(-1)!;
  expect(alike(last).sort()).toEqual(alike(slow.answers[0]!).sort());
  const tokens = [...slow.answers, ...quick.answers].map((answer) => /token_\d+/.exec(answer)?.[0]);
  expect(new Set(tokens).size).toBe(29);
  expect(byServer).toBe(4);
});

it.each([
  ["a buy", buy()],
  ["a buy that breaks a rule", buy(JSON.stringify({ ...ASKED, slippage: 7, priority: "fast" }))],
  ["what is no JSON", buy("{ä")],
  ["an unknown key", buy(REST, "api_unknown")],
  ["another type", request("/v1/tx/buy", "text/plain", REST)],
  ["a coding", request("/v1/tx/buy", "application/json", REST, ALICE.key, "Content-Encoding: gzip\r\n")],
  ["Connect with JSON", request(RPC, "application/json", JSON.stringify({ ...ASKED, priority: "PRIORITY_FAST" }))],
  ["Connect with JSON that breaks a rule", request(RPC, "application/json", "{}")],
  ["Connect with bytes", request(RPC, "application/proto", proto())],
  ["Connect with an unknown key", request(RPC, "application/proto", proto(), "api_unknown")],
  ["gRPC-Web", request(RPC, "application/grpc-web+proto", framed(proto()))],
  ["gRPC-Web with half a message", request(RPC, "application/grpc-web+proto", framed(proto()).subarray(0, 9))],
])("answers %s as the server does", async (_, bytes) => {
  const { answers, ask } = connect();
  for (let i = 0; i < 5; i++) await ask(bytes);
  expect(byServer).toBe(2);
  for (const answer of answers.slice(1)) expect(alike(answer).sort()).toEqual(alike(answers[0]!).sort());
});

it("leaves to the server what only the server or the router can read, and serves again after it", async () => {
  const { ask } = connect();
  const unusual = [
    request("/v1/unknown", "application/json", REST),
    request("/v1/tx/buy", "application/json", REST, ALICE.key, "Accept: a\r\nAccept: b\r\n"),
    Buffer.from("GET /v1/ping HTTP/1.1\r\nHost: here\r\n\r\n"),
    request("/v1/tx/buy", "application/json", REST, ALICE.key, "Origin: https://elsewhere\r\n"),
  ];
  for (const bytes of unusual) {
    for (let i = 0; i < 4; i++) await ask(buy());
    const before = byServer;
    await ask(buy());
    expect(byServer).toBe(before);
    await ask(bytes);
    expect(byServer).toBe(before + 1);
  }
});

/** A connection served in the lane whose fourth build waits until `letGo`. */
async function waitForBuild() {
  const connection = connect();
  for (let i = 0; i < 3; i++) await connection.ask(buy());
  const { begun, letGo } = holdNextBuild();
  connection.socket.write(buy());
  await begun;
  return { ...connection, letGo };
}

it("answers in order what came before an answer, from a connection that is read no further", async () => {
  const { socket, answers, ask, letGo } = await waitForBuild();
  socket.write(Buffer.concat([buy("{}"), buy()]));
  socket.write(buy("[]"));
  // Another connection is served meanwhile.
  expect(await connect().ask(buy())).toContain(" 200 ");
  expect(answers).toHaveLength(3);
  letGo();
  while (answers.length < 7) await once(socket, "answer");
  expect(answers.slice(3).map((answer) => answer.slice(9, 12))).toEqual(["200", "400", "200", "400"]);
  await ask(buy());
  await ask(buy());
  const before = byServer;
  expect(await ask(buy())).toContain(" 200 ");
  expect(byServer).toBe(before);
});

it("lets the server hold back a connection that sends much before an answer", async () => {
  const { socket, answers, ask, letGo } = await waitForBuild();
  for (let i = 0; i < 2; i++) {
    socket.write(Buffer.concat(Array.from({ length: 24 }, () => buy("{}"))));
    await connect().ask(buy());
  }
  letGo();
  while (answers.length < 52) await once(socket, "answer");
  expect(answers.slice(4).filter((answer) => !answer.includes('"field":"mint"'))).toEqual([]);
  expect(await ask(buy())).toContain(" 200 ");
});

it("lets a call take longer than its connection may be idle", async () => {
  await edge.close();
  await start(SHORT_KEEP_ALIVE_MS);
  const { ask } = connect();
  for (let i = 0; i < 3; i++) await ask(buy());
  const { begun, letGo } = holdNextBuild();
  const answering = ask(buy());
  await begun;
  const idle = connect();
  for (let i = 0; i < 3; i++) await idle.ask(buy());
  await once(idle.socket, "close");
  letGo();
  expect(await answering).toContain(" 200 ");
});

it("answers calls in flight when the service closes, then closes their connections", async () => {
  const { socket, ask } = connect();
  for (let i = 0; i < 3; i++) await ask(buy());
  const { begun, letGo } = holdNextBuild();
  const answering = ask(buy());
  await begun;
  const idle = connect();
  await idle.ask(buy());
  const before = byServer;
  const closed = once(socket, "close");
  const idleClosed = once(idle.socket, "close");
  const closing = edge.close();
  // A call in flight keeps no other connection open.
  await idleClosed;
  letGo();
  expect(await answering).toContain(" 200 ");
  await Promise.all([closed, closing]);
  expect(byServer).toBe(before);
});

it("answers a client that has ended its side as the server does", async () => {
  const ends: string[][] = [];
  for (const wholeBefore of [0, 3]) {
    const { socket, answers, ask } = connect();
    for (let i = 0; i < wholeBefore; i++) await ask(buy());
    const { begun, letGo } = holdNextBuild();
    socket.end(buy());
    await begun;
    const ended = once(socket, "close");
    // Its end is read before the answer.
    await connect().ask(buy());
    letGo();
    await ended;
    ends.push(answers.slice(wholeBefore).map((answer) => answer.slice(9, 12)));
  }
  expect(ends[1]).toEqual(ends[0]);
});

it("forgets a call whose client is gone", async () => {
  const { socket, ask } = connect();
  for (let i = 0; i < 3; i++) await ask(buy());
  const { begun, letGo } = holdNextBuild();
  socket.write(buy());
  await begun;
  socket.resetAndDestroy();
  letGo();
  await once(socket, "close");
  expect(await connect().ask(buy())).toContain(" 200 ");
});

it("reads whole requests past the socket's stream, and what is not whole through it", async () => {
  const { socket, answers, ask } = connect();
  const [served] = (await once(edge.fastify.server, "connection")) as [net.Socket];
  for (let i = 0; i < 3; i++) await ask(buy());
  const push = vi.spyOn(served, "push");
  for (const key of [ALICE.key, "api_unknown", ALICE.key]) expect(await ask(buy(REST, key))).toContain("HTTP/1.1 ");
  expect(push).not.toHaveBeenCalled();
  const before = byServer;
  const answered = once(socket, "answer");
  socket.write("POST /v1/tx/buy HTTP/1.1\r\nX-Other: ");
  await vi.waitUntil(() => push.mock.calls.length === 1, { interval: 1, timeout: PATIENCE_MS });
  // What would be a request, but for its place.
  socket.write(buy());
  await answered;
  expect(byServer).toBe(before + 1);
  // The server has read it, so two more requests pass until the lane serves again.
  for (let i = 0; i < 3; i++) expect(await ask(buy())).toContain(" 200 ");
  const pushes = push.mock.calls.length;
  await ask(buy());
  expect(push).toHaveBeenCalledTimes(pushes);
  expect(answers).toHaveLength(11);
});

it("keeps the bytes of connections apart that are read in turn", async () => {
  const connections = [connect(), connect(), connect()];
  for (const { ask } of connections) for (let i = 0; i < 3; i++) await ask(buy());
  // Too long to be read here, in pieces as long as what is read at a time, and with a field that names its connection.
  const bodies = connections.map((_, at) => JSON.stringify({ [`field${at}`]: "x".repeat(200_000), mint: 1 }));
  const refused = connections.map(async ({ ask }, at) => ask(buy(bodies[at]!)));
  for (const answer of await Promise.all(refused)) expect(answer).toMatch(/ 4(00|13) /);
});

it("gives 12 connections their own answers in order, in whatever pieces their 480 requests come", async () => {
  const random = createRandom(223);
  const connections = Array.from({ length: 12 }, connect);
  // Builds at amounts of their own, in everyday form or not, for either account, and fields that the refusal names.
  const asked = connections.map((_, place) =>
    Array.from({ length: 40 }, (__, turn) => {
      const id = 1_000 * (1 + place) + turn;
      const solAmount = `0.${String(id).padStart(9, "0")}`;
      const order = REST.replace("0.1", random.chance(0.3) ? `${solAmount}e0` : solAmount);
      const [key, account] = random.pick([
        [ALICE.key, "alice"],
        [BOB.key, "bob"],
      ] as const);
      return random.chance(0.3)
        ? { bytes: buy(`{"field${id}":1}`, key), own: `field${id}` }
        : { bytes: buy(order, key), own: `"inputAmountRaw":"${id}"`, account };
    }),
  );
  const converse = async ({ socket, answers }: ReturnType<typeof connect>, place: number) => {
    for (const [turn, { bytes }] of asked[place]!.entries()) {
      const cut = turn > 3 && random.chance(0.1) ? random.u32() % bytes.length : 0;
      if (cut > 0) {
        socket.write(bytes.subarray(0, cut));
        await new Promise(setImmediate);
      }
      socket.write(bytes.subarray(cut));
      // Sometimes the next one is sent before the answer.
      if (turn <= 3 || turn === 39 || random.chance(0.9)) while (answers.length <= turn) await once(socket, "answer");
    }
  };
  await Promise.all(connections.map(converse));
  for (const [place, { answers }] of connections.entries()) {
    for (const [turn, answer] of answers.entries()) {
      const { own, account } = asked[place]![turn]!;
      expect(answer).toContain(own);
      const transaction = /"unsignedTransaction":"([^"]*)"/.exec(answer)?.[1];
      if (account !== undefined) expect(Buffer.from(transaction!, "base64").toString("latin1")).toContain(account);
    }
  }
  expect(byServer).toBeLessThan(300);
});
