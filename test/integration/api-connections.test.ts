import { once } from "node:events";
import http2 from "node:http2";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { ApiSettings } from "../../src/api/settings.ts";
import { type Edge, startEdge } from "../support/edge.ts";
import { ALICE, fakeSign, TOKEN } from "../support/fake-trades.ts";

let edge: Edge | undefined;
afterEach(async () => {
  await edge?.close();
  edge = undefined;
});

const BUY = JSON.stringify({ mint: TOKEN.toString(), solAmount: 1, slippage: 0, priority: "fast" });
const PING = "GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n";

/** A raw connection that records what it received and when it was closed. */
async function connect(changes: Partial<ApiSettings> = {}) {
  edge ??= await startEdge(changes);
  const socket = net.connect(edge.port, edge.host);
  await once(socket, "connect");
  const received = { text: "", closedAt: 0 };
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    received.text += chunk;
  });
  const closed = new Promise<void>((resolve) => {
    socket.on("close", () => {
      received.closedAt = Date.now();
      resolve();
    });
  });
  socket.on("error", () => {});
  const until = async (expected: string | RegExp) => {
    while (!received.text.match(expected)) {
      if (received.closedAt > 0) throw new Error(`closed after: ${received.text}`);
      await sleep(5);
    }
  };
  return { socket, received, closed, until };
}

it("a connection that cannot be accepted, as without a free file descriptor, ends nothing", async () => {
  const listening = vi.spyOn(net.Server.prototype, "listen");
  const { socket, until } = await connect();
  const servers = [...new Set(listening.mock.contexts)] as net.Server[];
  listening.mockRestore();
  expect(servers.length).toBeGreaterThan(0);
  for (const server of servers) server.emit("error", Object.assign(new Error("accept EMFILE"), { code: "EMFILE" }));
  socket.write(PING);
  await until("200 OK");
  socket.destroy();
});

describe("an HTTP/1.1 connection", () => {
  it("advertises a shorter keep-alive than it holds", async () => {
    const { socket, received, until } = await connect();
    socket.write(PING);
    await until("\r\n\r\n");
    expect(received.text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(received.text).toMatch(/\r\nKeep-Alive: timeout=65, max=10000\r\n/i);
    expect(received.text).toMatch(/\r\ncontent-length: 0\r\n/i);
    socket.destroy();
  });

  it("is closed after the idle time, not before", async () => {
    const { socket, received, closed, until } = await connect({ keepAliveMs: 1_000, keepAliveHintMs: 300 });
    socket.write(PING);
    await until("\r\n\r\n");
    // Long enough that a time counted from the first request would end too early, and far from its end on a busy machine.
    await sleep(200);
    socket.write(PING);
    const secondAtMs = Date.now();
    // Timers of one event loop: a busy machine delays both alike. Node's own time for idle connections is longer.
    const late = sleep(4_500, "open too long");
    expect(await Promise.race([closed, late])).toBeUndefined();
    expect(received.text.match(/200 OK/g)).toHaveLength(2);
    expect(received.closedAt - secondAtMs).toBeGreaterThan(900);
  });

  it("is closed if it never sends a request", async () => {
    const { closed, received } = await connect({ keepAliveMs: 300, keepAliveHintMs: 200 });
    await closed;
    expect(received.text).toBe("");
  });

  it("serves the advertised number of requests, announces the last one, and closes", async () => {
    const { socket, received, closed, until } = await connect({ maxRequestsPerConnection: 3 });
    for (let i = 1; i <= 3; i++) {
      socket.write(PING);
      await until(new RegExp(`(200 OK[^]*?\\r\\n\\r\\n[^]*?){${i}}`));
    }
    await closed;
    const responses = received.text.split("HTTP/1.1 ").slice(1);
    expect(responses.map((response) => /Connection: close/i.test(response))).toEqual([false, false, true]);
    expect(responses[0]).toMatch(/Keep-Alive: timeout=65, max=3/i);
  });

  it("refuses headers of more than 8 KiB with 431", async () => {
    const { socket, received, closed } = await connect();
    socket.write(`GET /v1/ping HTTP/1.1\r\nHost: x\r\nX-Long: ${"a".repeat(9_000)}\r\n\r\n`);
    await closed;
    expect(received.text).toMatch(/^HTTP\/1\.1 431 /);
    expect(JSON.parse(received.text.split("\r\n\r\n")[1]!)).toMatchObject({
      success: false,
      requestId: /\r\nX-Request-Id: (.*)\r\n/i.exec(received.text)?.[1],
      error: { code: "HEADERS_TOO_LARGE" },
    });
  });

  it("bounds the wait for headers and body", async () => {
    const changes = { headersTimeoutMs: 200, requestTimeoutMs: 400, timeoutCheckMs: 50 };
    const slowHead = await connect(changes);
    slowHead.socket.write("GET /v1/ping HTTP/1.1\r\nHo");
    const slowBody = await connect(changes);
    slowBody.socket.write(
      `POST /v1/tx/buy HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ALICE.key}\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{`,
    );
    await Promise.all([slowHead.closed, slowBody.closed]);
    expect(slowHead.received.text).toMatch(/^HTTP\/1\.1 408 /);
    expect(slowBody.received.text).toMatch(/^HTTP\/1\.1 408 /);
    for (const { text } of [slowHead.received, slowBody.received]) {
      const { error } = JSON.parse(text.split("\r\n\r\n")[1]!);
      expect(error).toMatchObject({ code: "REQUEST_TIMEOUT", retryable: true });
    }
  });

  it("answers what is not HTTP with 400 and closes", async () => {
    for (const garbage of ["P\r\n\r\n", "hello\r\n\r\n", "\x16\x03\x01\x02\x00"]) {
      const { socket, received, closed } = await connect();
      socket.write(garbage);
      await closed;
      expect(received.text).toMatch(/^HTTP\/1\.1 400 /);
    }
  });

  it("refuses a request without Host with 400 and ignores unknown expectations", async () => {
    const { socket, received, until, closed } = await connect();
    socket.write(PING.replace("\r\n\r\n", "\r\nExpect: a miracle\r\n\r\n"));
    await until("\r\n\r\n");
    expect(received.text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    received.text = "";
    socket.write(
      `POST /v1/tx/buy HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: ${BUY.length}\r\n\r\n${BUY}`,
    );
    await closed;
    expect(received.text).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(received.text.split("\r\n\r\n")[1]!)).toMatchObject({
      success: false,
      error: { code: "VALIDATION_ERROR", field: "Host" },
    });
  });

  it("survives a body that is refused for its size", async () => {
    const { socket, received, until } = await connect();
    const body = " ".repeat(17 * 1024);
    socket.write(
      `POST /v1/tx/buy HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}${PING}`,
    );
    await until(/413[\s\S]*200 OK/);
    expect(received.text).toContain("BODY_TOO_LARGE");
    socket.destroy();
  });

  it("refuses a chunked body as soon as it is too large", async () => {
    const { socket, until } = await connect();
    socket.write(
      "POST /v1/tx/buy HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    socket.write(`5000\r\n${" ".repeat(0x5000)}\r\n`);
    await until("413");
    socket.destroy();
  });

  it("reads little of a body beyond its refusal", async () => {
    edge = await startEdge();
    const accepted = once(edge.fastify.server, "connection");
    const { socket, until } = await connect();
    const [served] = (await accepted) as [net.Socket];
    socket.write(
      "POST /v1/tx/buy HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    const chunk = `10000\r\n${" ".repeat(0x10000)}\r\n`;
    socket.write(chunk.repeat(64));
    await until("413");
    const readBytes = served.bytesRead;
    await sleep(300);
    // One read that may have begun, of 64 KiB at most.
    expect(served.bytesRead - readBytes).toBeLessThanOrEqual(0x10000);
    expect(served.bytesRead).toBeLessThanOrEqual(2 * 0x10000);
    socket.destroy();
  });

  it("keeps the connection of a body that is refused and ends soon after", async () => {
    const { socket, received, until } = await connect();
    const head =
      "POST /v1/tx/buy HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (let i = 1; i <= 5; i++) {
      socket.write(`${head}c000\r\n${" ".repeat(0xc000)}\r\n0\r\n\r\n${PING}`);
      await until(new RegExp(`(413[\\s\\S]*200 OK[\\s\\S]*){${i}}`));
    }
    expect(received.text.match(/200 OK/g)?.length).toBe(5);
    socket.destroy();
  });

  it("leaves a client that is busy writing the time to read its refusal", async () => {
    const { socket, until } = await connect();
    const chunk = `4000\r\n${" ".repeat(0x4000)}\r\n`;
    socket.pause();
    socket.write(
      `POST /v1/tx/buy HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(256)}`,
    );
    // Server and client share an event loop and its timers.
    await sleep(1_000);
    socket.write(chunk);
    socket.resume();
    await until("413");
    socket.destroy();
  });
});

describe("an HTTP/2 connection", () => {
  it("is recognised if its preface arrives in pieces", async () => {
    const { socket, received, until } = await connect();
    for (const piece of ["PRI * HT", "TP/2.0\r\n\r\nSM", "\r\n\r\n"]) {
      socket.write(piece);
      await sleep(20);
    }
    socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    await until(/[\s\S]{9}/);
    expect(received.text.charCodeAt(3)).toBe(4);
    socket.destroy();
  });

  it("gets GOAWAY when idle and after the maximum number of requests", async () => {
    edge = await startEdge({ keepAliveMs: 400, maxRequestsPerConnection: 3 });
    const ping = (session: http2.ClientHttp2Session) =>
      new Promise<number>((resolve, reject) => {
        const stream = session.request({ ":path": "/v1/ping" });
        stream.on("response", (head) => resolve(Number(head[":status"])));
        stream.on("error", reject);
        stream.resume();
      });
    const idle = http2.connect(`http://${edge.host}:${edge.port}`);
    expect(await ping(idle)).toBe(200);
    const [idleCode] = await once(idle, "goaway");
    expect(idleCode).toBe(http2.constants.NGHTTP2_NO_ERROR);

    const busy = http2.connect(`http://${edge.host}:${edge.port}`);
    const gone = once(busy, "goaway");
    for (let i = 0; i < 3; i++) expect(await ping(busy)).toBe(200);
    expect((await gone)[0]).toBe(http2.constants.NGHTTP2_NO_ERROR);
  });

  it("has the same limits of headers, body and time", async () => {
    edge = await startEdge({ headersTimeoutMs: 200, requestTimeoutMs: 200 });
    const session = http2.connect(`http://${edge.host}:${edge.port}`);
    const send = (headers: http2.OutgoingHttpHeaders, body: string | undefined) =>
      new Promise<{ status: number; text: string }>((resolve, reject) => {
        const stream = session.request({
          ":method": "POST",
          ":path": "/v1/tx/buy",
          "content-type": "application/json",
          ...headers,
        });
        let status = 0;
        let text = "";
        stream.on("response", (head) => {
          status = Number(head[":status"]);
        });
        stream.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        stream.on("end", () => resolve({ status, text }));
        stream.on("error", reject);
        if (body === undefined) stream.write("{");
        else stream.end(body);
      });
    const authorization = `Bearer ${ALICE.key}`;
    expect((await send({ authorization }, BUY)).status).toBe(200);
    expect((await send({ authorization, "x-long": "a".repeat(9_000) }, BUY)).status).toBe(431);
    expect((await send({ authorization }, " ".repeat(17 * 1024))).status).toBe(413);
    expect(await send({ authorization }, undefined)).toMatchObject({
      status: 408,
      text: expect.stringContaining("in time"),
    });
    session.close();
  });
});

describe("clients that disconnect", () => {
  it.each([0, 1])("disturb no other call and leave no line in the log, behind %i proxies", async (trustedProxies) => {
    edge = await startEdge({ trustedProxies });
    const printed = vi.spyOn(console, "error");
    const head = `POST /v1/tx/buy HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ALICE.key}\r\nContent-Type: application/json\r\n`;
    for (const text of [
      "P",
      "PRI * HTTP/2",
      head,
      `${head}Content-Length: 50\r\n\r\n{`,
      `${head}Content-Length: ${BUY.length}\r\n\r\n${BUY}`,
    ]) {
      const { socket, closed } = await connect();
      socket.write(text);
      await sleep(10);
      socket.resetAndDestroy();
      await closed;
    }
    for (const [path, contentType] of [
      ["/v1/tx/buy", "application/json"],
      ["/tradewire.v1.TradeService/Buy", "application/grpc"],
      ["/tradewire.v1.TradeService/WatchTrade", "application/grpc"],
      ["/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "application/grpc"],
    ]) {
      const session = http2.connect(`http://${edge.host}:${edge.port}`);
      session.on("error", () => {});
      const stream = session.request({ ":method": "POST", ":path": path, "content-type": contentType });
      stream.on("error", () => {});
      stream.write(Buffer.from([0, 0]));
      await sleep(20);
      session.destroy();
    }
    const connections = () =>
      new Promise((resolve) => edge?.fastify.server.getConnections((_, count) => resolve(count)));
    await expect.poll(connections).toBe(0);
    const response = await fetch(`http://${edge.host}:${edge.port}/v1/ping`);
    expect(response.status).toBe(200);
    expect(edge.errors).toEqual([]);
    expect(printed).not.toHaveBeenCalled();
    printed.mockRestore();
  });
});

describe("a stream whose client stops reading and disconnects", () => {
  it.each(["HTTP/1.1", "HTTP/2"])("ends over %s, and prints nothing past the log", async (version) => {
    edge = await startEdge();
    const printed = vi.spyOn(console, "error");
    const { trades } = edge;
    const post = async (path: string, json: object) => {
      const url = `http://${edge!.host}:${edge!.port}${path}`;
      const headers = { authorization: `Bearer ${ALICE.key}`, "content-type": "application/json" };
      return (await (await fetch(url, { method: "POST", headers, body: JSON.stringify(json) })).json()).data;
    };
    const { submissionToken, unsignedTransaction } = await post("/v1/tx/buy", JSON.parse(BUY));
    const signed = Buffer.from(fakeSign(Buffer.from(unsignedTransaction, "base64"))).toString("base64");
    const { signature } = await post("/v1/tx/submit", { submissionToken, signedTransaction: signed });
    const { watch } = trades;
    let open = 0;
    trades.watch = async function* (principal, watched, signal) {
      open++;
      try {
        while (!signal.aborted) {
          yield* watch(principal, watched, signal);
          await new Promise((resolve) => setImmediate(resolve));
        }
      } finally {
        open--;
      }
    };
    const body = JSON.stringify({ signature });
    const head = { authorization: `Bearer ${ALICE.key}`, "content-type": "application/connect+json" };
    const message = Buffer.concat([Buffer.from([0, 0, 0, 0, body.length]), Buffer.from(body)]);
    const ways = version === "HTTP/1.1" ? (["resetAndDestroy"] as const) : (["destroy", "resetAndDestroy"] as const);
    for (const leave of ways) {
      const socket = net.connect(edge.port, edge.host);
      socket.on("error", () => {});
      await once(socket, "connect");
      if (version === "HTTP/1.1") {
        const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
        socket.pause();
        socket.write(
          `POST /tradewire.v1.TradeService/WatchTrade HTTP/1.1\r\nHost: x\r\nContent-Length: ${message.length}\r\n${lines.join("")}\r\n`,
        );
        socket.write(message);
      } else {
        const session = http2.connect(`http://${edge.host}:${edge.port}`, { createConnection: () => socket });
        session.on("error", () => {});
        const stream = session.request({
          ":method": "POST",
          ":path": "/tradewire.v1.TradeService/WatchTrade",
          ...head,
        });
        stream.on("error", () => {});
        stream.pause();
        stream.end(message);
      }
      await expect.poll(() => open).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 500));
      socket[leave]();
      await expect.poll(() => open).toBe(0);
    }
    expect(printed).not.toHaveBeenCalled();
    expect(edge.warnings).toEqual([]);
    printed.mockRestore();
  });
});

describe("closing", () => {
  it("answers requests in flight, ends idle connections and streams, and refuses new ones", async () => {
    edge = await startEdge();
    const { socket, until, closed } = await connect();
    const idle = await connect();
    idle.socket.write(PING);
    await idle.until("200 OK");
    const session = http2.connect(`http://${edge.host}:${edge.port}`);
    await once(session, "connect");
    const sessionClosed = once(session, "close");
    // A stream that would otherwise stay open as long as the client likes.
    const watching = session.request({
      ":method": "POST",
      ":path": "/grpc.health.v1.Health/Watch",
      "content-type": "application/grpc",
    });
    watching.end(Buffer.from([0, 0, 0, 0, 0]));
    await once(watching, "data");

    const half = BUY.length >> 1;
    socket.write(
      `POST /v1/tx/buy HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ALICE.key}\r\nContent-Type: application/json\r\nContent-Length: ${BUY.length}\r\n\r\n${BUY.slice(0, half)}`,
    );
    await sleep(50);
    const { host, port } = edge;
    const ended = edge.close();
    edge = undefined;
    await idle.closed;
    const refused = net.connect(port, host);
    await expect(once(refused, "connect")).rejects.toThrow();
    socket.write(BUY.slice(half));
    await until("submissionToken");
    await Promise.all([ended, closed, sessionClosed]);
  });

  it("answers requests that come while the turn in which it begins still reads", async () => {
    const [first, second] = [await connect(), await connect()];
    for (const { socket, until } of [first, second]) {
      socket.write(PING);
      await until("200 OK");
    }
    const answers = second.received.text.length;
    first.socket.write(PING);
    // In the reading of a turn, which began before the request was there.
    const ended = await new Promise<Promise<void>>((resolve) =>
      first.socket.once("data", () => {
        second.socket.write(PING);
        resolve(edge!.close());
      }),
    );
    edge = undefined;
    await Promise.all([ended, second.closed]);
    expect(second.received.text.slice(answers)).toMatch(/^HTTP\/1\.1 200 OK\r\n.*connection: close/is);
  });
});
