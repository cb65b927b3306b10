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

const LONGEST_MS = 3_000;

/** Writes the pieces one by one. @returns milliseconds until the connection was closed, or until it was given up */
async function lifeOf({ port, host }: Edge, pieces: readonly Uint8Array[]): Promise<number> {
  const socket = net.connect(port, host).on("error", () => {});
  await once(socket, "connect");
  const startMs = performance.now();
  // A reset closes it too: bytes may be on their way when it is closed.
  const closed = new Promise((resolve) => socket.resume().once("close", resolve));
  for (const piece of pieces) {
    if (socket.destroyed) break;
    socket.write(piece);
    await sleep(APART_MS);
  }
  await Promise.race([closed, sleep(LONGEST_MS)]);
  const lifeMs = performance.now() - startMs;
  socket.destroy();
  return lifeMs;
}

const byteByByte = (bytes: Buffer): Buffer[] => Array.from(bytes, (byte) => Buffer.of(byte));

it("closes a connection that opens TLS and goes on with nothing, or a byte at a time", async () => {
  const secure = await start(true);
  const hello = await clientHello();
  const openings = [[], [hello], [hello.subarray(0, 60)], byteByByte(hello.subarray(0, 40))];
  const lives = await Promise.all(openings.map((pieces) => lifeOf(secure, pieces)));
  for (const life of lives) expect(life).toBeLessThan(2_000);
  expect(secure.load().connections).toBe(0);
});

it("closes a connection whose HTTP/2 preface comes a byte at a time, and one that says nothing", async () => {
  const plain = await start(false);
  const [dribbled, silent] = await Promise.all([lifeOf(plain, byteByByte(HTTP2_PREFACE)), lifeOf(plain, [])]);
  expect(dribbled).toBeLessThan(1_500);
  expect(silent).toBeLessThan(2_000);
});
