import { once } from "node:events";
import http2 from "node:http2";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import {
  FrameType,
  frame,
  HTTP2_PREFACE,
  headersFrame,
  settingsFrame,
  windowUpdateFrame,
} from "../../support/http2-frames.ts";
import { type EdgeProcess, startEdgeProcess } from "./edge-process.ts";
import { ms, report } from "./table.ts";

let edge: EdgeProcess | undefined;
afterEach(() => edge?.stop());

const { data: DATA, headers: HEADERS, rstStream: RST_STREAM, settings: SETTINGS } = FrameType;
const { goAway: GO_AWAY, windowUpdate: WINDOW_UPDATE } = FrameType;
const [PRIORITY, PUSH_PROMISE, PING, CONTINUATION] = [2, 5, 6, 9];
const UNKNOWN = 0x50;
/** Flags of a head: it is whole; and so is the request. */
const [END_HEADERS, WHOLE] = [4, 5];
const PADDED = 8;

const NONE = Buffer.alloc(0);
const headOf = (method: number) =>
  Buffer.from([method, 0x86, 0x04, 0x08, ...Buffer.from("/v1/ping"), 0x01, 0x01, 0x61]);
/** GET and POST /v1/ping in HPACK, indexed and literal. */
const [GET, POST] = [headOf(0x82), headOf(0x83)];
const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
/** A header that enters the dynamic table. Name below 127 bytes. */
const field = (name: string, value: string) => {
  const long = Buffer.of(0x7f, ((value.length - 127) & 0x7f) | 0x80, (value.length - 127) >> 7);
  const length = value.length < 127 ? Buffer.of(value.length) : long;
  return Buffer.concat([Buffer.of(0x40, name.length), Buffer.from(name), length, Buffer.from(value)]);
};
/** The place in the dynamic table of the header that entered it last. */
const NEWEST = 0xbe;
const CANCEL = u32(8);
const get = (stream: number) => frame(HEADERS, WHOLE, stream, GET);
const openPost = frame(HEADERS, END_HEADERS, 1, POST);

/** What is sent first, and then again and again: bytes of the frames by their number. */
interface Flood {
  readonly first?: Buffer;
  readonly next: (i: number) => readonly Buffer[];
  readonly rounds?: number;
}

/** Streams that the client opens and makes the server reset. */
const madeToReset = (next: (stream: number) => Buffer): Flood => ({
  next: (i) => [get(2 * i + 1), next(2 * i + 1)],
  rounds: 100_000,
});

const FLOODS: Readonly<Record<string, Flood>> = {
  "rapid reset": madeToReset((stream) => frame(RST_STREAM, 0, stream, CANCEL)),
  "rapid reset of open bodies": {
    next: (i) => [frame(HEADERS, END_HEADERS, 2 * i + 1, POST), frame(RST_STREAM, 0, 2 * i + 1, CANCEL)],
    rounds: 100_000,
  },
  "reset by window 0": madeToReset((stream) => frame(WINDOW_UPDATE, 0, stream, u32(0))),
  "reset by window overflow": madeToReset((stream) => frame(WINDOW_UPDATE, 0, stream, u32(0x7fffffff))),
  "reset by data after the end": madeToReset((stream) => frame(DATA, 0, stream, Buffer.of(1))),
  "reset by a second head": madeToReset(get),
  "reset by priority on itself": madeToReset((stream) => frame(PRIORITY, 0, stream, Buffer.of(...u32(stream), 1))),
  "open streams": { next: (i) => [frame(HEADERS, END_HEADERS, 2 * i + 1, GET)], rounds: 100_000 },
  "endless head": { first: frame(HEADERS, 0, 1, GET), next: (i) => [frame(CONTINUATION, 0, 1, field(`a${i}`, "c"))] },
  "empty continuations": { first: frame(HEADERS, 0, 1, GET), next: () => [frame(CONTINUATION, 0, 1, NONE)] },
  "one large header 8,000 times a head": {
    first: frame(HEADERS, WHOLE, 1, Buffer.concat([GET, field("a", "x".repeat(3_900))])),
    next: (i) => [frame(HEADERS, WHOLE, 2 * i + 3, Buffer.concat([GET, Buffer.alloc(8_000, NEWEST)]))],
    rounds: 10_000,
  },
  "table resized in each head": {
    next: (i) => [frame(HEADERS, WHOLE, 2 * i + 1, Buffer.concat([Buffer.of(0x20, 0x3f, 0xe1, 0x1f), GET]))],
    rounds: 100_000,
  },
  "nameless headers": {
    next: (i) => [frame(HEADERS, WHOLE, 2 * i + 1, Buffer.concat([GET, Buffer.alloc(3)]))],
    rounds: 100_000,
  },
  "endless trailers": {
    next: (i) => [frame(HEADERS, END_HEADERS, 2 * i + 1, POST), frame(HEADERS, WHOLE, 2 * i + 1, field("x", "y"))],
    rounds: 100_000,
  },
  pings: { next: () => [frame(PING, 0, 0, Buffer.alloc(8))] },
  settings: { next: () => [settingsFrame()] },
  "settings of a table": {
    next: (i) => [frame(SETTINGS, 0, 0, Buffer.of(0, 1, 0, i & 1, 0, 0))],
  },
  "acknowledged settings": { next: () => [frame(SETTINGS, 1, 0, NONE)] },
  priorities: { next: (i) => [frame(PRIORITY, 0, 2 * i + 1, Buffer.of(0, 0, 0, 0, 1))] },
  "unknown frames": { next: () => [frame(UNKNOWN, 0, 0, Buffer.alloc(100))] },
  "empty data": { first: openPost, next: () => [frame(DATA, 0, 1, NONE)] },
  "padded data": { first: openPost, next: () => [frame(DATA, PADDED, 1, Buffer.of(255, ...Buffer.alloc(255)))] },
  "a body a byte at a time": { first: openPost, next: () => [frame(DATA, 0, 1, Buffer.of(1))] },
  "resets of one closed stream": {
    first: Buffer.concat([get(1), frame(RST_STREAM, 0, 1, CANCEL)]),
    next: () => [frame(RST_STREAM, 0, 1, CANCEL)],
  },
  "promises of a client": { next: () => [frame(PUSH_PROMISE, END_HEADERS, 1, Buffer.concat([u32(2), GET]))] },
  goodbyes: { next: () => [frame(GO_AWAY, 0, 0, Buffer.alloc(8))] },
};

/** Sends a flood as fast as it is taken. Resolves once the server ends the connection, false after a minute. */
function isCut(port: number, { first = NONE, next, rounds = 1_000_000 }: Flood): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1");
    const finish = (cut: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(cut);
    };
    const timer = setTimeout(() => finish(false), 60_000);
    socket.on("error", () => {}).resume();
    socket.on("close", () => finish(true));
    socket.write(Buffer.concat([HTTP2_PREFACE, settingsFrame(), first]));
    let sent = 0;
    const write = () => {
      while (sent < rounds && !socket.destroyed) {
        const frames = Array.from({ length: 50 }, () => next(sent++));
        if (socket.write(Buffer.concat(frames.flat()))) continue;
        socket.once("drain", write);
        return;
      }
    };
    socket.on("connect", write);
  });
}

it("28: HTTP/2 floods end only their own connection", async () => {
  edge = await startEdgeProcess({ watchCore: true });
  await edge.usage();
  const before = await edge.usage();
  await edge.coreTimes();
  const uncut: string[] = [];
  let dearest = { name: "", usedMs: 0 };
  let peakBytes = 0;
  for (const [name, flood] of Object.entries(FLOODS)) {
    if (!(await isCut(edge.port, flood))) uncut.push(name);
    peakBytes = Math.max(peakBytes, (await edge.usage()).residentBytes);
    const times = await edge.coreTimes();
    const usedMs = (times.at(-1)?.usedMs ?? 0) - (times[0]?.usedMs ?? 0);
    if (usedMs > dearest.usedMs) dearest = { name, usedMs };
  }
  const alive = (await fetch(`http://127.0.0.1:${edge.port}/v1/ping`)).status;
  const { streams } = await edge.usage();
  const grownMb = (peakBytes - before.residentBytes) / (1024 * 1024);
  report(
    28.5,
    `HTTP/2 abuse: ${Object.keys(FLOODS).length} floods of frames`,
    "every connection cut, memory + ≤ 100 MB, no stream left, everybody else served",
    `${uncut.length} not cut ${uncut.join(", ")}; memory +${grownMb.toFixed(0)} MB, ${streams} streams left, then ping ${alive}; most processor time: ${dearest.name}, ${dearest.usedMs.toFixed(0)} ms`,
    uncut.length === 0 && grownMb <= 100 && streams === 0 && alive === 200,
  );
});

it("44: a flood of WINDOW_UPDATE ends its own connection, a busy reader stays", async () => {
  edge = await startEdgeProcess();
  const { port } = edge;
  const socket = net.connect(port, "127.0.0.1");
  let isClosed = false;
  socket.on("error", () => {});
  socket.on("close", () => {
    isClosed = true;
  });
  socket.write(Buffer.concat([HTTP2_PREFACE, settingsFrame({ initialWindowSize: 0 })]));
  socket.write(headersFrame(1, "GET", "/v1/openapi.json"));
  const many = Buffer.concat(Array.from({ length: 1_000 }, () => windowUpdateFrame(0, 1)));
  const startMs = performance.now();
  let sent = 0;
  for (; !isClosed && performance.now() - startMs < 10_000; await sleep(10)) {
    socket.write(many);
    sent += 1_000;
  }
  const cutMs = performance.now() - startMs;
  const session = http2.connect(`http://127.0.0.1:${port}`);
  let read = 0;
  for (let i = 0; i < 150; i++) {
    const stream = session.request({ ":path": "/v1/openapi.json" });
    for await (const chunk of stream) read += (chunk as Buffer).length;
  }
  const isAlive = !session.destroyed && !session.closed;
  session.destroy();
  report(
    44.1,
    "WINDOW_UPDATE floods",
    "cut ≤ 3 s; a client that reads much is not",
    `cut after ${sent} frames, ${ms(cutMs)}; a reader of ${(read / (1024 * 1024)).toFixed(0)} MB ${isAlive ? "stays" : "was cut"}`,
    isClosed && cutMs <= 3_000 && isAlive && read > 5 * 1024 * 1024,
  );
});

it("44: a quiet stream stays open", async () => {
  edge = await startEdgeProcess();
  const session = http2.connect(`http://127.0.0.1:${edge.port}`);
  const stream = session.request({
    ":method": "POST",
    ":path": "/grpc.health.v1.Health/Watch",
    "content-type": "application/grpc",
  });
  stream.end(Buffer.from([0, 0, 0, 0, 0]));
  await once(stream, "data");
  await sleep(14_000);
  const isOpen = !stream.closed && !stream.destroyed;
  session.destroy();
  expect(isOpen).toBe(true);
});
