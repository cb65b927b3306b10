import { once } from "node:events";
import http2 from "node:http2";
import net from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Edge, startEdge } from "../../../../test/support/edge.ts";
import { ALICE } from "../../../../test/support/fake-trades.ts";
import {
  type Frame,
  FrameType,
  frame,
  framesOf,
  HTTP2_PREFACE,
  headersFrame,
  settingsFrame,
} from "../../../../test/support/http2-frames.ts";

const PING = 6;
const ONE = Buffer.of(0x20);

let edge: Edge;
beforeEach(async () => {
  edge = await startEdge();
});
afterEach(() => edge.close());

const text = (value: string) => Buffer.concat([Buffer.of(value.length), Buffer.from(value, "latin1")]);
const field = (name: string, value: string) => Buffer.concat([Buffer.of(0), text(name), text(value)]);

/** A known caller's request, whose body is to come. */
function openFrame(id: number): Buffer {
  const bare = headersFrame(id, "POST", "/v1/tx/buy", false);
  const fields = [field("authorization", `Bearer ${ALICE.key}`), field("content-type", "application/json")];
  return frame(FrameType.headers, bare[4]!, id, Buffer.concat([bare.subarray(9), ...fields]));
}

/** Streams of a connection that are open, each with a body to come. */
async function openStreams(count: number, settings?: { readonly initialWindowSize: number }) {
  const socket = net.connect(edge.port, "127.0.0.1").on("error", () => {});
  let rest: Buffer = Buffer.alloc(0);
  const frames: Frame[] = [];
  socket.on("data", (bytes) => {
    const read = framesOf(Buffer.concat([rest, bytes]));
    rest = read.rest;
    frames.push(...read.frames);
  });
  const ids = Array.from({ length: count }, (_, i) => 2 * i + 1);
  socket.write(Buffer.concat([HTTP2_PREFACE, settingsFrame(settings)]));
  socket.write(Buffer.concat(ids.map(openFrame)));
  // A ping is answered once everything before it has been read.
  socket.write(frame(PING, 0, 0, Buffer.alloc(8)));
  await expect.poll(() => frames.some(({ type }) => type === PING)).toBe(true);
  return { socket, ids, frames };
}

it("takes bodies that come in some pieces", async () => {
  const session = http2.connect(`http://127.0.0.1:${edge.port}`);
  const headers = { ":method": "POST", ":path": "/v1/tx/buy", "content-type": "application/json" };
  const asked = { ...headers, authorization: `Bearer ${ALICE.key}` };
  const answers = Array.from({ length: 20 }, async () => {
    const stream = session.request(asked);
    for (const letter of `{}${" ".repeat(38)}`) stream.write(letter);
    stream.end();
    const [answer] = await once(stream.resume(), "response");
    return answer[":status"];
  });
  expect(new Set(await Promise.all(answers))).toEqual(new Set([400]));
  session.destroy();
});

it.each([
  ["one body", 1, 900],
  ["all bodies together", 200, 20],
])("closes a connection of which %s comes in too many pieces in one read", async (_, count, pieces) => {
  const { socket, ids, frames } = await openStreams(count);
  const closed = once(socket, "close");
  const data = ids.flatMap((id) => Array.from({ length: pieces }, () => frame(FrameType.data, 0, id, ONE)));
  socket.write(Buffer.concat(data));
  await closed;
  expect(frames.some(({ type }) => type === FrameType.headers)).toBe(false);
  await expect.poll(() => edge.load().streams).toBe(0);
});

const statusesOf = (frames: readonly Frame[]) => frames.filter(({ type }) => type === FrameType.headers).length;

it("answers a call that comes a byte at a time, as through a proxy that forwards bytes", async () => {
  const { socket, frames } = await openStreams(1);
  const letters = Array.from(`{}${" ".repeat(1_798)}`, (letter, i) =>
    frame(FrameType.data, i === 1_799 ? 1 : 0, 1, Buffer.from(letter)),
  );
  for (let at = 0; at < letters.length; at += 50) {
    const pings = () => frames.filter(({ type }) => type === PING).length;
    const before = pings();
    socket.write(Buffer.concat([...letters.slice(at, at + 50), frame(PING, 0, 0, Buffer.alloc(8))]));
    await expect.poll(pings, { interval: 1 }).toBe(before + 1);
  }
  await expect.poll(() => statusesOf(frames)).toBe(1);
  expect(socket.destroyed).toBe(false);
  socket.destroy();
});

it("closes a connection of which small pieces of a body wait that nobody reads, however slowly they come", async () => {
  const { socket, frames } = await openStreams(0, { initialWindowSize: 0 });
  // The answer waits for its client, and the body for the answer.
  socket.write(headersFrame(1, "GET", "/v1/openapi.json", false));
  let isClosed = false;
  socket.on("close", () => {
    isClosed = true;
  });
  const pings = () => frames.filter(({ type }) => type === PING).length;
  let sent = 0;
  for (; sent < 1_000 && !isClosed; sent += 10) {
    const before = pings();
    const some = Array.from({ length: 10 }, () => frame(FrameType.data, 0, 1, ONE));
    socket.write(Buffer.concat([...some, frame(PING, 0, 0, Buffer.alloc(8))]));
    // Its answer shows that the pieces have been read; the next ones come in another turn.
    await expect.poll(() => isClosed || pings() > before, { interval: 1 }).toBe(true);
  }
  expect(sent).toBeGreaterThan(200);
  expect(sent).toBeLessThan(400);
});

it("cuts one body that comes in too many pieces through a proxy, and serves the others of its connection", async () => {
  await edge.close();
  edge = await startEdge({ trustedProxies: 1 });
  const { socket, frames } = await openStreams(2);
  socket.write(Buffer.concat(Array.from({ length: 900 }, () => frame(FrameType.data, 0, 1, ONE))));
  socket.write(frame(FrameType.data, 1, 3, Buffer.from("{}")));
  await expect.poll(() => frames.some(({ type, stream }) => type === FrameType.headers && stream === 3)).toBe(true);
  await expect.poll(() => edge.load().streams).toBe(0);
  expect(frames.some(({ type }) => type === FrameType.goAway)).toBe(false);
  socket.destroy();
});

/** A request whose body of spaces comes in chunks of a byte. */
const chunkedRequest = (chunks: number) =>
  `POST /v1/tx/buy HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ALICE.key}\r\nContent-Type: application/json\r\n` +
  `Transfer-Encoding: chunked\r\n\r\n${"1\r\n \r\n".repeat(chunks)}0\r\n\r\n`;

it("answers an HTTP/1.1 body in some chunks, and closes a connection that brings thousands, pipelined or not", async () => {
  const send = async (requests: string) => {
    const socket = net.connect(edge.port, "127.0.0.1").on("error", () => {});
    let answered = "";
    socket.on("data", (bytes) => {
      answered += bytes;
    });
    socket.write(requests);
    const closed = once(socket, "close");
    await Promise.race([closed, expect.poll(() => answered).toContain("400 Bad Request")]);
    const isClosed = socket.destroyed;
    socket.destroy();
    return { answered, isClosed };
  };
  expect(await send(chunkedRequest(100))).toMatchObject({ answered: expect.stringContaining("400"), isClosed: false });
  expect(await send(chunkedRequest(10_000))).toEqual({ answered: "", isClosed: true });
  expect(await send(chunkedRequest(200).repeat(40))).toMatchObject({ isClosed: true });
});
