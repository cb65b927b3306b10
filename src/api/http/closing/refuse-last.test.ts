import { once } from "node:events";
import net from "node:net";
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { type Edge, startEdge } from "../../../../test/support/edge.ts";
import { PATIENCE_MS } from "../../../../test/support/eventually.ts";
import { ALICE, TOKEN } from "../../../../test/support/fake-trades.ts";

/** What the answer to a build takes: whatever stands behind it is read meanwhile. Milliseconds. */
const BUILD_MS = 100;
const LATE_MS = 300;

let edge: Edge;
beforeEach(async () => {
  edge = await startEdge({ headersTimeoutMs: LATE_MS, requestTimeoutMs: LATE_MS, timeoutCheckMs: 50 });
  const { build } = edge.trades;
  Object.assign(edge.trades, {
    build: async (...asked: Parameters<typeof build>) => {
      await new Promise((resolve) => setTimeout(resolve, BUILD_MS));
      return build(...asked);
    },
  });
});
afterEach(() => edge.close());

/** The statuses of all answers until the connection ends. @param parts what is sent, one every 20 ms */
function statusesOf(...parts: readonly string[]): Promise<number[]> {
  return new Promise((resolve) => {
    const socket = net.connect({ port: edge.port, host: "127.0.0.1", noDelay: true });
    let text = "";
    socket
      .setEncoding("latin1")
      .on("data", (chunk) => {
        text += chunk;
      })
      // What is sent after the last answer may be answered by a reset.
      .on("error", () => {})
      .on("close", () => {
        const heads = [...text.matchAll(/HTTP\/1\.1 (\d+) [\w ]+\r\n(?:[\w-]+: [^\r]*\r\n)+\r\n/g)];
        resolve(heads.map(([, status]) => Number(status)));
      });
    const [first, ...rest] = parts;
    socket.write(first!);
    rest.forEach((part, i) => {
      setTimeout(() => socket.write(part), (i + 1) * 20);
    });
  });
}

const BODY = JSON.stringify({ mint: TOKEN.toString(), solAmount: 0.1, slippage: 0.01, priority: "fast" });
const buy = (lines = "") =>
  `POST /v1/tx/buy HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer ${ALICE.key}\r\nContent-Type: application/json\r\n` +
  `${lines}Content-Length: ${BODY.length}\r\n\r\n${BODY}`;
const PING = "GET /v1/ping HTTP/1.1\r\nHost: here\r\n\r\n";
const CONNECT = "CONNECT there:443 HTTP/1.1\r\nHost: there:443\r\n\r\n";
const CHUNKED = "POST /v1/tx/buy HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n";

it.each([
  ["what is no HTTP", ["garbage\r\n\r\n"], 400],
  ["what is no HTTP, in several reads", ["garbage\r\n\r\n", "garbage\r\n\r\n", "garbage"], 400],
  ["a chunk that is none", [`${CHUNKED}zz\r\n`], 400],
  ["a head that is too large", [`GET /v1/ping HTTP/1.1\r\nHost: here\r\nX: ${"x".repeat(20_000)}\r\n\r\n`], 431],
  ["a head that does not come", ["GET /v1/ping HTTP/1.1\r\nHost:"], 408],
  ["a body that does not come", [`${CHUNKED}1\r\n`], 408],
  ["CONNECT", [CONNECT], 405],
])("answers what stands before %s first", async (_, [broken, ...more], status) => {
  expect(await statusesOf(broken!, ...more)).toEqual([status]);
  expect(await statusesOf(buy() + broken!, ...more)).toEqual([200, status]);
  expect(await statusesOf(buy() + PING + buy() + broken!, ...more)).toEqual([200, 200, 200, status]);
});

it.each([
  ["of a chunk that is none", ["zz\r\n"]],
  ["that does not come", []],
])("gives a request that is answered before its body no second answer, for a body %s", async (_, body) => {
  const early = "POST /v1/ping HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n";
  expect(await statusesOf([early, ...body].join(""))).toEqual([405]);
  // In its turn behind another, it may be refused before it is served.
  expect(await statusesOf(PING + early, ...body)).toHaveLength(2);
});

it("answers a request that ends its connection, and nothing behind it", async () => {
  expect(await statusesOf(buy("Connection: close\r\n") + PING)).toEqual([200]);
  expect(await statusesOf(buy() + buy("Connection: close\r\n") + PING + PING, PING)).toEqual([200, 200]);
  expect(await statusesOf(buy("Connection: close\r\n"), PING, PING)).toEqual([200]);
});

it("hands nothing that follows CONNECT to another connection", async () => {
  const [first] = await Promise.all([
    statusesOf(PING, CONNECT, buy(), buy()),
    ...Array.from({ length: 8 }, async () =>
      expect(await statusesOf(PING, buy("Connection: close\r\n"))).toEqual([200, 200]),
    ),
  ]);
  expect(first).toEqual([200, 405]);
});

it.each([
  ["what is no HTTP", "garbage\r\n\r\n", 400],
  ["CONNECT", CONNECT, 405],
])(
  "leaves %s and what stands before it their answers, though the client goes on before it reads them",
  async (_, broken, status) => {
    const served = once(edge.fastify.server, "connection") as Promise<[net.Socket]>;
    const socket = net.connect({ port: edge.port, host: "127.0.0.1", noDelay: true }).pause();
    const errors: Error[] = [];
    socket.on("error", (error) => errors.push(error));
    socket.write(buy() + broken);
    const [connection] = await served;
    const until = (isSo: () => boolean) => vi.waitUntil(isSo, { interval: 1, timeout: PATIENCE_MS });
    await until(() => connection.writableEnded);
    for (const part of [PING, "garbage\r\n\r\n", PING]) {
      const read = connection.bytesRead;
      socket.write(part);
      await until(() => connection.bytesRead === read + part.length || connection.destroyed);
    }
    let text = "";
    socket.setEncoding("latin1").on("data", (chunk) => {
      text += chunk;
    });
    socket.resume();
    await once(socket, "close");
    expect(Array.from(text.matchAll(/HTTP\/1\.1 (\d+)/g), ([, found]) => Number(found))).toEqual([200, status]);
    expect(errors).toEqual([]);
  },
);

it("serves no request whose body comes after its refusal as late", async () => {
  const build = vi.spyOn(edge.trades, "build");
  const served = once(edge.fastify.server, "connection") as Promise<[net.Socket]>;
  const socket = net.connect({ port: edge.port, host: "127.0.0.1", noDelay: true }).pause();
  const [connection] = await served;
  const until = (isSo: () => boolean) => vi.waitUntil(isSo, { interval: 1, timeout: PATIENCE_MS });
  const whole = buy();
  socket.write(whole.slice(0, -10));
  await until(() => connection.writableEnded);
  socket.write(whole.slice(-10));
  await until(() => connection.bytesRead === whole.length);
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk) => {
    text += chunk;
  });
  socket.resume();
  await once(socket, "close");
  expect(text).toMatch(/^HTTP\/1.1 408 /);
  expect(build).not.toHaveBeenCalled();
});

it("cuts off a client that floods behind its refusal, without waiting for it", async () => {
  const never = 10 * 60_000;
  const patient = await startEdge({ headersTimeoutMs: never, requestTimeoutMs: never, keepAliveMs: never });
  onTestFinished(() => patient.close());
  const served = once(patient.fastify.server, "connection") as Promise<[net.Socket]>;
  const socket = net.connect({ port: patient.port, host: "127.0.0.1", allowHalfOpen: true }).on("error", () => {});
  const [connection] = await served;
  const closed = once(connection, "close");
  // No client is waited for from now on.
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  socket.write("garbage\r\n\r\n");
  await once(socket, "data");
  const flood = () => {
    while (!socket.destroyed && socket.write("X-Long: y\r\n".repeat(1_000)));
  };
  socket.on("drain", flood);
  flood();
  await closed;
});
