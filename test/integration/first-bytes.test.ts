import { once } from "node:events";
import { readFileSync } from "node:fs";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import { clientHello } from "../support/client-hello.ts";
import { type Edge, startEdge } from "../support/edge.ts";
import { HTTP2_PREFACE } from "../support/http2-frames.ts";

const HEADERS_MS = 200;
/** Bytes come more often than any timeout that begins anew at each of them would run out. Milliseconds. */
const APART_MS = 100;

const fixture = (file: string) => readFileSync(new URL(`../fixtures/tls/localhost.${file}`, import.meta.url), "utf8");

let edge: Edge | undefined;
afterEach(async () => {
  await edge?.close();
  edge = undefined;
});

async function start(isTls: boolean): Promise<Edge> {
  const certificate = isTls ? { cert: fixture("pem"), key: fixture("key") } : undefined;
  edge = await startEdge({ headersTimeoutMs: HEADERS_MS, keepAliveMs: 600, keepAliveHintMs: 600, tls: certificate });
  return edge;
}

/** Nothing but what is tested closes a connection within this time, and a busy machine delays both timers alike. */
const LONGEST_MS = 20_000;

/** Writes the pieces one by one, and waits until the connection is closed. @returns how many it took @throws if it stays open */
async function takenBy({ port, host }: Edge, pieces: readonly Uint8Array[]): Promise<number> {
  const socket = net.connect(port, host).on("error", () => {});
  await once(socket, "connect");
  // A reset closes it too: bytes may be on their way when it is closed.
  const closed = new Promise((resolve) => socket.resume().once("close", resolve));
  let taken = 0;
  for (const piece of pieces) {
    if (socket.destroyed) break;
    socket.write(piece);
    taken += 1;
    await sleep(APART_MS);
  }
  const end = await Promise.race([closed, sleep(LONGEST_MS, "open", { ref: false })]);
  socket.destroy();
  if (end === "open") throw new Error(`Still open ${LONGEST_MS} ms after ${taken} pieces`);
  return taken;
}

const byteByByte = (bytes: Buffer): Buffer[] => Array.from(bytes, (byte) => Buffer.of(byte));

it("closes a connection that opens TLS and goes on with nothing, or a byte at a time", async () => {
  const secure = await start(true);
  const hello = await clientHello();
  const dribbled = byteByByte(hello.subarray(0, 100));
  const openings = [[], [hello], [hello.subarray(0, 60)], dribbled];
  const taken = await Promise.all(openings.map((pieces) => takenBy(secure, pieces)));
  expect(taken.slice(0, 3)).toEqual([0, 1, 1]);
  expect(taken[3]).toBeLessThan(dribbled.length / 2);
  expect(secure.load().connections).toBe(0);
});

it("closes a connection whose HTTP/2 preface comes a byte at a time, and one that says nothing", async () => {
  const plain = await start(false);
  const [dribbled] = await Promise.all([takenBy(plain, byteByByte(HTTP2_PREFACE)), takenBy(plain, [])]);
  expect(dribbled).toBeLessThan(HTTP2_PREFACE.length / 2);
});
