import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import http2, { type ClientHttp2Session } from "node:http2";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { DEFAULT_API_SETTINGS } from "../../../../test/support/api-settings.ts";
import { type Edge, startEdge } from "../../../../test/support/edge.ts";
import { ALICE } from "../../../../test/support/fake-trades.ts";
import {
  FrameType,
  frame,
  framesOf,
  HTTP2_PREFACE,
  headersFrame,
  settingsFrame,
  windowUpdateFrame,
} from "../../../../test/support/http2-frames.ts";
import { FlowGuard } from "./flow-guard.ts";

/** Longer than the time between two looks at what waits. */
const LOOKED_MS = 1_200;

let edge: Edge;
let session: ClientHttp2Session | undefined;
beforeEach(async () => {
  edge = await startEdge();
});
afterEach(async () => {
  session?.destroy();
  await edge.close();
});

it("takes bodies that come long after their heads", async () => {
  session = http2.connect(`http://127.0.0.1:${edge.port}`);
  const body = `{}${" ".repeat(12_000)}`;
  const headers = { ":method": "POST", ":path": "/v1/tx/buy", "content-type": "application/json" };
  const asked = { ...headers, "content-length": body.length, authorization: `Bearer ${ALICE.key}` };
  const streams = Array.from({ length: 50 }, () => session!.request(asked));
  const answers = streams.map(
    (stream) =>
      new Promise((resolve) => {
        stream.on("response", (answer) => resolve(answer[":status"]));
        stream.on("error", resolve).on("close", resolve);
      }),
  );
  await sleep(LOOKED_MS);
  for (const stream of streams) stream.write(body.slice(2));
  await sleep(LOOKED_MS);
  for (const stream of streams) stream.end("{}");
  expect(new Set(await Promise.all(answers))).toEqual(new Set([400]));
});

it("cuts a client that sends more control frames than it may without a look at what waits", async () => {
  const looks = vi.spyOn(FlowGuard.prototype, "look").mockReturnValue();
  onTestFinished(() => looks.mockRestore());
  const flood = Array.from({ length: 8_000 }, () => windowUpdateFrame(0, 1));
  for (let i = 0; i < 3; i++) {
    const socket = net.connect(edge.port, "127.0.0.1");
    socket.resume().write(Buffer.concat([HTTP2_PREFACE, settingsFrame(), ...flood]));
    await once(socket, "close");
  }
});

/** Streams from this number on that are opened and reset at once. */
const openedAndReset = (count: number, from = 0): Buffer =>
  Buffer.concat(
    Array.from({ length: count }, (_, i) => {
      const id = 2 * (from + i) + 1;
      return Buffer.concat([
        headersFrame(id, "GET", "/v1/ping"),
        frame(FrameType.rstStream, 0, id, Buffer.of(0, 0, 0, 8)),
      ]);
    }),
  );

it("makes no more streams of one read than may be open twice over, and ends the connection", async () => {
  let made = 0;
  const count = () => void made++;
  subscribe("http2.server.stream.created", count);
  onTestFinished(() => void unsubscribe("http2.server.stream.created", count));
  const socket = net.connect(edge.port, "127.0.0.1");
  socket.on("error", () => {}).resume();
  socket.write(Buffer.concat([HTTP2_PREFACE, settingsFrame()]));
  await sleep(50);
  socket.write(openedAndReset(4_000));
  await once(socket, "close");
  // Had all of the first read been made, there would be more than 1,500; a read may also end before the bound.
  expect(made).toBeLessThanOrEqual(2 * 513);
});

it("keeps a client that resets streams in many reads", async () => {
  const socket = net.connect(edge.port, "127.0.0.1");
  let isClosed = false;
  socket
    .on("error", () => {})
    .on("close", () => {
      isClosed = true;
    })
    .resume();
  socket.write(Buffer.concat([HTTP2_PREFACE, settingsFrame()]));
  for (let i = 0; i < 18; i++) {
    socket.write(openedAndReset(50, 50 * i));
    await sleep(20);
  }
  expect(isClosed).toBe(false);
  socket.destroy();
});

it("closes what has stalled a few streams in a turn, and the connection after them", async () => {
  await edge.close();
  edge = await startEdge({ stallTimeoutMs: 500 });
  let [closed, most] = [0, 0];
  const endTurn = () => {
    most = Math.max(most, closed);
    closed = 0;
  };
  const count = () => {
    if (closed++ === 0) setImmediate(endTurn);
  };
  subscribe("http2.server.stream.close", count);
  onTestFinished(() => void unsubscribe("http2.server.stream.close", count));
  const socket = net.connect(edge.port, "127.0.0.1");
  socket.on("error", () => {}).resume();
  const requests = Array.from({ length: 200 }, (_, i) => headersFrame(2 * i + 1, "GET", "/v1/openapi.json"));
  socket.write(Buffer.concat([HTTP2_PREFACE, settingsFrame({ initialWindowSize: 0 }), ...requests]));
  await expect.poll(() => edge.load().streams).toBe(200);
  await once(socket, "close");
  await expect.poll(() => edge.load().streams).toBe(0);
  expect(most).toBeLessThanOrEqual(8);
});

it("serves requests whose empty body ends while they wait for their turn", async () => {
  const socket = net.connect(edge.port, "127.0.0.1");
  const answers = new Set<number>();
  let held: Buffer = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    const read = framesOf(Buffer.concat([held, chunk]));
    held = read.rest;
    for (const { type, stream } of read.frames) if (type === FrameType.headers) answers.add(stream);
  });
  const paths = ["/v1/tx/buy", "/tradewire.v1.TradeService/Buy", "/grpc.health.v1.Health/Check", "/v1/ping"];
  const requests = Array.from({ length: 80 }, (_, i) => [
    headersFrame(2 * i + 1, "POST", paths[i % paths.length]!, false),
    frame(FrameType.data, 1, 2 * i + 1, Buffer.alloc(0)),
  ]);
  const startMs = performance.now();
  socket.write(Buffer.concat([HTTP2_PREFACE, settingsFrame(), ...requests.flat()]));
  await expect.poll(() => answers.size).toBe(80);
  // Otherwise they are answered once the time of their bodies is over.
  expect(performance.now() - startMs).toBeLessThan(DEFAULT_API_SETTINGS.requestTimeoutMs);
  socket.destroy();
});
