import { once } from "node:events";
import http2 from "node:http2";
import net from "node:net";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { ApiSettings } from "../../src/api/settings.ts";
import type { TradeRequest } from "../../src/trade/trade.ts";
import { DEFAULT_API_SETTINGS } from "../support/api-settings.ts";
import { type Edge, startEdge } from "../support/edge.ts";
import { ALICE, TOKEN } from "../support/fake-trades.ts";
import {
  type Frame,
  FrameType,
  framesOf,
  HTTP2_PREFACE,
  headersFrame,
  settingsFrame,
  windowUpdateFrame,
} from "../support/http2-frames.ts";

const OPENAPI = "/v1/openapi.json";
const REFUSED_STREAM = 7;

let edge: Edge | undefined;
afterEach(async () => {
  await edge?.close();
  edge = undefined;
});

/** A raw HTTP/2 connection on which no byte of a body can be sent. */
async function connectStalled(changes: Partial<ApiSettings> = {}) {
  edge ??= await startEdge(changes);
  const socket = net.connect(edge.port, edge.host);
  const frames: Frame[] = [];
  let held: Buffer = Buffer.alloc(0);
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    const read = framesOf(Buffer.concat([held, chunk]));
    held = read.rest;
    frames.push(...read.frames);
  });
  socket.write(Buffer.concat([HTTP2_PREFACE, settingsFrame({ initialWindowSize: 0 })]));
  return { socket, frames, closed: once(socket, "close") };
}

describe("a connection that breaks the protocol", () => {
  it("ends alone, though streams of it still wait for their turn", async () => {
    edge = await startEdge();
    const open = (from: number, to: number) =>
      Buffer.concat(
        Array.from({ length: to - from }, (_, i) => headersFrame(2 * (from + i) + 1, "GET", "/v1/ping", false)),
      );
    for (let turns = 1; turns <= 8; turns++) {
      const socket = net.connect(edge.port, edge.host);
      socket.on("error", () => {}).resume();
      const closed = once(socket, "close");
      await once(socket, "connect");
      socket.write(Buffer.concat([HTTP2_PREFACE, settingsFrame(), open(0, 300)]));
      for (let turn = 0; turn < turns; turn++) await setImmediate();
      // More streams than it may have are invalid frames: some hundred of them end the connection.
      socket.write(open(300, 600));
      await closed;
    }
    expect((await fetch(`http://${edge.host}:${edge.port}/v1/ping`)).status).toBe(200);
  });
});

describe("clients that do not read", () => {
  it("lose their streams when nothing moves, and the connection if it has no other", async () => {
    const { socket, closed } = await connectStalled({ stallTimeoutMs: 1_000 });
    for (let i = 0; i < 5; i++) socket.write(headersFrame(2 * i + 1, "GET", OPENAPI));
    await closed;
    await expect.poll(() => edge!.load().streams).toBe(0);
  });

  it("keep a quiet stream beside one that stalls", async () => {
    edge = await startEdge({ stallTimeoutMs: 1_000 });
    const session = http2.connect(`http://${edge.host}:${edge.port}`);
    const quiet = session.request({
      ":method": "POST",
      ":path": "/grpc.health.v1.Health/Watch",
      "content-type": "application/grpc",
    });
    quiet.end(Buffer.from([0, 0, 0, 0, 0]));
    await once(quiet, "data");
    // Not read: its window of 64 KiB fills.
    const stalled = session.request({ ":path": OPENAPI });
    stalled.on("error", () => {});
    await once(stalled, "close");
    expect(stalled.rstCode).toBe(http2.constants.NGHTTP2_CANCEL);
    expect(quiet.closed).toBe(false);
    session.destroy();
  });

  it("keep a stream that they read slowly", async () => {
    const { socket, frames, closed } = await connectStalled({ stallTimeoutMs: 2_000 });
    socket.write(headersFrame(1, "GET", OPENAPI));
    for (let i = 0; i < 6; i++) {
      await sleep(700);
      socket.write(windowUpdateFrame(1, 3_000));
    }
    await expect
      .poll(() =>
        frames.filter(({ type }) => type === FrameType.data).reduce((sum, { payload }) => sum + payload.length, 0),
      )
      .toBe(18_000);
    expect(frames.filter(({ type }) => type === FrameType.rstStream || type === FrameType.goAway)).toEqual([]);
    socket.destroy();
    await closed;
  });

  it("get half of all streams at most; the rest are refused and may be repeated", async () => {
    const { socket, frames, closed } = await connectStalled({ maxStreams: 8 });
    for (let i = 0; i < 10; i++) socket.write(headersFrame(2 * i + 1, "GET", OPENAPI));
    const refused = () => frames.filter(({ type }) => type === FrameType.rstStream);
    await expect.poll(() => refused().length).toBeGreaterThanOrEqual(6);
    expect(edge!.load().streams).toBeLessThanOrEqual(4);
    for (const { payload } of refused()) expect(payload.readUInt32BE(0)).toBe(REFUSED_STREAM);
    socket.destroy();
    await closed;
    await expect.poll(() => edge!.load().streams).toBe(0);
  });

  it("end their connection when too many bytes wait", async () => {
    const { socket, closed } = await connectStalled({ maxWaitingBytes: 16_384 });
    for (let i = 0; i < 20; i++) socket.write(headersFrame(2 * i + 1, "GET", OPENAPI));
    await closed;
  });

  it("end their connection with a flood of WINDOW_UPDATE frames", async () => {
    const { socket, closed } = await connectStalled();
    socket.write(headersFrame(1, "GET", OPENAPI));
    const flood = Buffer.concat(Array.from({ length: 20_000 }, () => windowUpdateFrame(0, 1)));
    socket.write(flood);
    await closed;
  });
});

describe("clients that pipeline", () => {
  it("get every answer in order, however many requests stand in one write", async () => {
    edge = await startEdge();
    const socket = net.connect(edge.port, edge.host);
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
    });
    const requests = Array.from(
      { length: 5_000 },
      (_, i) => `GET /v1/ping HTTP/1.1\r\nHost: x\r\nX-Request-Id: n${i}\r\n\r\n`,
    );
    socket.write(requests.join(""));
    await expect.poll(() => text.match(/HTTP\/1\.1 200/g)?.length).toBe(5_000);
    socket.destroy();
  });

  it("are not timed out for requests that wait until others are answered", async () => {
    edge = await startEdge({ headersTimeoutMs: 100, requestTimeoutMs: 100, timeoutCheckMs: 10 });
    const { trades } = edge;
    const socket = net.connect(edge.port, edge.host);
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
    });
    // The first answer is held until times have been checked again and again: the last requests are not read before that.
    let answer = () => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const build = trades.build.bind(trades);
    Object.assign(trades, { build: async (request: TradeRequest) => held.then(() => build(request)) });
    const body = JSON.stringify({ mint: TOKEN.toString(), solAmount: 0.1, slippage: 0.05, priority: "fast" });
    const headers = `Host: x\r\nAuthorization: Bearer ${ALICE.key}\r\nContent-Type: application/json\r\n`;
    const buy = `POST /v1/tx/buy HTTP/1.1\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
    socket.write(buy + "GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n".repeat(5_000));
    await sleep(400);
    answer();
    await expect.poll(() => text.match(/HTTP\/1\.1 200/g)?.length).toBe(5_001);
    socket.destroy();
  });

  it("get every answer to a few requests sent together", async () => {
    edge = await startEdge();
    const socket = net.connect(edge.port, edge.host);
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
    });
    const paths = ["/v1/ping", OPENAPI, "/v1/nothing", "/v1/ping"];
    socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(""));
    await expect
      .poll(() => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status))
      .toEqual(["200", "200", "404", "200"]);
    socket.destroy();
  });
});

describe("documents", () => {
  const get = (headers: Record<string, string>) =>
    fetch(`http://${edge!.host}:${edge!.port}${OPENAPI}`, { headers: { "accept-encoding": "identity", ...headers } });

  it("are compressed once, and not sent again to clients that have them", async () => {
    edge = await startEdge();
    const plain = await get({});
    const text = await plain.text();
    expect(plain.headers.get("vary")).toBe("accept-encoding");
    for (const coding of ["br", "gzip"]) {
      const response = await get({ "accept-encoding": `${coding}, identity;q=0.5` });
      expect(response.headers.get("content-encoding")).toBe(coding);
      expect(Number(response.headers.get("content-length"))).toBeLessThan(text.length / 4);
      expect(await response.text()).toBe(text);
      const again = await get({ "accept-encoding": coding, "if-none-match": response.headers.get("etag")! });
      expect([again.status, await again.text()]).toEqual([304, ""]);
    }
    expect((await get({ "if-none-match": "*" })).status).toBe(304);
    expect((await get({ "if-none-match": '"other"' })).status).toBe(200);
    expect((await get({ "accept-encoding": "br;q=0, gzip;q=0" })).headers.get("content-encoding")).toBeNull();
    const session = http2.connect(`http://${edge.host}:${edge.port}`);
    let read = "";
    for await (const chunk of session.request({ ":path": OPENAPI }).setEncoding("utf8")) read += chunk;
    expect(read).toBe(text);
    session.destroy();
  });

  it("are limited by address", async () => {
    edge = await startEdge({ limits: { ...DEFAULT_API_SETTINGS.limits, addressPage: 1, burstSeconds: 3 } });
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) statuses.push((await get({})).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    const refused = await get({});
    expect(refused.headers.get("retry-after")).not.toBeNull();
    expect(refused.headers.get("ratelimit-policy")).toContain("address-page");
  });
});

describe("a reflection stream", () => {
  it("carries no more messages than calls are allowed", async () => {
    edge = await startEdge({ limits: { ...DEFAULT_API_SETTINGS.limits, addressOpen: 1, burstSeconds: 3 } });
    const session = http2.connect(`http://${edge.host}:${edge.port}`);
    const stream = session.request({
      ":method": "POST",
      ":path": "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
      "content-type": "application/grpc",
    });
    let trailers: http2.IncomingHttpHeaders = {};
    stream.on("trailers", (received) => {
      trailers = received;
    });
    // list_services, ten times.
    for (let i = 0; i < 10; i++) stream.write(Buffer.from([0, 0, 0, 0, 2, 0x3a, 0]));
    stream.resume();
    await once(stream, "close");
    expect(trailers["grpc-status"]).toBe("8");
    session.destroy();
  });
});
