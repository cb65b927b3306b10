import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import http2 from "node:http2";
import net, { Socket } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { type Edge, startEdge } from "../../../../test/support/edge.ts";
import {
  type Frame,
  FrameType,
  frame,
  framesOf,
  HTTP2_PREFACE,
  headersFrame,
  settingsFrame,
} from "../../../../test/support/http2-frames.ts";
import { FlowGuard } from "../flow/flow-guard.ts";
import { SessionOpenings } from "./session-openings.ts";

const MAX_CONCURRENT_STREAMS = 3;
/** Longer than twice the time between two looks at what waits. */
const TWO_LOOKS_MS = 2_200;
/** The acknowledgement of SETTINGS. */
const acknowledged = frame(FrameType.settings, 1, 0, Buffer.alloc(0));

let edge: Edge | undefined;
afterEach(async () => {
  await edge?.close();
  edge = undefined;
});

const requests = (count: number, from = 0): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, i) => headersFrame(2 * (from + i) + 1, "GET", "/v1/ping")));

/** A raw connection with its preface sent, and what comes back. */
function connect(port: number, first: Buffer = Buffer.alloc(0)) {
  const socket = net.connect(port, "127.0.0.1");
  const frames: Frame[] = [];
  let held: Buffer = Buffer.alloc(0);
  socket
    .on("error", () => {})
    .on("data", (chunk) => {
      const read = framesOf(Buffer.concat([held, chunk]));
      held = read.rest;
      frames.push(...read.frames);
    });
  socket.write(Buffer.concat([HTTP2_PREFACE, settingsFrame(), first]));
  onTestFinished(() => void socket.destroy());
  return { socket, frames };
}

/** How many streams the connection has been allowed at once, one number after another. */
const allowed = (frames: readonly Frame[]): readonly number[] =>
  frames
    .filter(({ type, flags }) => type === FrameType.settings && flags === 0)
    .flatMap(({ payload }) =>
      Array.from({ length: payload.length / 6 }, (_, i) => payload.subarray(6 * i, 6 * i + 6))
        .filter((setting) => setting.readUInt16BE(0) === MAX_CONCURRENT_STREAMS)
        .map((setting) => setting.readUInt32BE(2)),
    );

it("refuses a connection from its first bytes if they ask too much, and says that nothing was served", async () => {
  edge = await startEdge();
  let made = 0;
  const count = () => void made++;
  subscribe("http2.server.stream.created", count);
  onTestFinished(() => void unsubscribe("http2.server.stream.created", count));
  const { socket, frames } = connect(edge.port, requests(400));
  await once(socket, "close");
  expect(frames.map(({ type }) => type)).toEqual([FrameType.settings, FrameType.goAway]);
  const [lastStream, code] = [frames[1]!.payload.readUInt32BE(0), frames[1]!.payload.readUInt32BE(4)];
  expect([lastStream, code]).toEqual([0, http2.constants.NGHTTP2_ENHANCE_YOUR_CALM]);
  expect(made).toBe(0);
  await expect.poll(() => edge!.load().connections).toBe(0);
});

it("serves all that a connection may ask at once, though it asks before it is greeted", async () => {
  edge = await startEdge();
  const { frames } = connect(edge.port, requests(250));
  await expect.poll(() => frames.filter(({ type }) => type === FrameType.headers).length).toBe(250);
  expect(frames.filter(({ type }) => type === FrameType.rstStream || type === FrameType.goAway)).toEqual([]);
});

it("begins the connections of a flood with one stream, and gives more to those that read their answers", async () => {
  const looks = vi.spyOn(FlowGuard.prototype, "look").mockReturnValue();
  onTestFinished(() => looks.mockRestore());
  edge = await startEdge({}, () => 1_000);
  for (let i = 0; i < 200; i++) {
    const { socket, frames } = connect(edge.port);
    await expect.poll(() => frames.length).toBeGreaterThan(0);
    socket.destroy();
  }
  const { socket, frames } = connect(edge.port);
  await expect.poll(() => allowed(frames)).toEqual([1]);
  socket.write(acknowledged);
  let asked = 0;
  for (const most of [1, 2, 4, 8, 16, 32, 64]) {
    socket.write(requests(most, asked));
    asked += most;
    await expect.poll(() => allowed(frames).at(-1)).toBe(2 * most);
    socket.write(acknowledged);
  }
  expect(frames.filter(({ type }) => type === FrameType.headers).length).toBe(asked);
});

it("announces stream limits when they are far higher or lower, not at every change", async () => {
  edge = await startEdge();
  const idle = Array.from({ length: 20 }, () => connect(edge!.port));
  const busy = connect(edge.port);
  const all = [busy, ...idle];
  await expect.poll(() => all.every(({ frames }) => allowed(frames).at(-1) === 250)).toBe(true);
  for (const { socket } of all) socket.write(Buffer.concat([acknowledged, acknowledged]));
  const before = idle.map(({ frames }) => allowed(frames).length);
  // So many that each may have one or two less.
  for (let i = 0; i < 80; i++) busy.socket.write(headersFrame(2 * i + 1, "POST", "/v1/tx/buy", false));
  await expect.poll(() => edge!.load().streams).toBe(80);
  await sleep(TWO_LOOKS_MS);
  expect(idle.map(({ frames }) => allowed(frames).length)).toEqual(before);
});

it("begins one session in a turn, in their order, and none of a connection that is gone", async () => {
  const begun: Socket[] = [];
  const openings = new SessionOpenings({ streams: () => 7, begin: (socket) => begun.push(socket) });
  const sockets = Array.from({ length: 5 }, () => new Socket());
  for (const socket of sockets) openings.open(socket);
  expect(begun).toEqual([sockets[0]]);
  sockets[2]!.destroy(new Error("reset by its client"));
  for (const count of [2, 3, 4]) {
    await nextTurn();
    expect(begun.length).toBe(count);
  }
  expect(begun).toEqual(sockets.filter((socket) => socket !== sockets[2]));
  await nextTurn();
  openings.open(sockets[0]!);
  expect(begun.length).toBe(5);
});

it("lets a thousand connections wait for their turn that have sent little", async () => {
  let begun = 0;
  const openings = new SessionOpenings({ streams: () => 7, begin: () => void begun++ });
  const first = Buffer.concat([HTTP2_PREFACE, settingsFrame(), requests(1)]);
  const sockets = Array.from({ length: 1_000 }, () => new Socket());
  for (const socket of sockets) openings.open(socket, first);
  await expect.poll(() => begun).toBe(1_000);
  expect(sockets.some(({ destroyed }) => destroyed)).toBe(false);
});

it("refuses what comes while those that wait hold 16 MiB, and no longer", async () => {
  let begun = 0;
  const openings = new SessionOpenings({ streams: () => 7, begin: () => void begun++ });
  const first = Buffer.alloc(48 * 1024);
  const sockets = Array.from({ length: 300 }, () => new Socket());
  for (const socket of sockets) openings.open(socket, first);
  await expect.poll(() => begun).toBe(257);
  await expect.poll(() => sockets.filter(({ destroyed }) => destroyed).length).toBe(43);
  for (let i = 0; i < 257; i++) openings.open(new Socket(), first);
  await expect.poll(() => begun).toBe(514);
});
