import { createHook } from "node:async_hooks";
import { readFileSync } from "node:fs";
import net, { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { clientHello } from "../../../../test/support/client-hello.ts";
import { startEdge } from "../../../../test/support/edge.ts";
import { HTTP2_PREFACE } from "../sniff-protocol.ts";
import { Handshakes } from "./handshakes.ts";

const fixture = (file: string) =>
  readFileSync(new URL(`../../../../test/fixtures/tls/localhost.${file}`, import.meta.url), "utf8");

/** Counts the TLS handshakes that begin, in all and the most in one turn of the event loop. */
function countHandshakes() {
  const begun = new Map<number, boolean>();
  const counted = { all: 0, most: 0 };
  let inTurn = 0;
  const hook = createHook({
    init: (id, type) => void (type === "TLSWRAP" && begun.set(id, false)),
    before: (id) => {
      if (begun.get(id) !== false) return;
      begun.set(id, true);
      counted.all++;
      counted.most = Math.max(counted.most, ++inTurn);
    },
  }).enable();
  let next = setImmediate(function endTurn() {
    inTurn = 0;
    next = setImmediate(endTurn);
  });
  onTestFinished(() => {
    hook.disable();
    clearImmediate(next);
  });
  return counted;
}

it("begins one handshake in a turn, of clients that wait for each other to ask at once", async () => {
  const hello = await clientHello();
  const edge = await startEdge({ tls: { cert: fixture("pem"), key: fixture("key") } });
  onTestFinished(() => edge.close());
  const counted = countHandshakes();
  const sockets = Array.from({ length: 40 }, () => net.connect(edge.port, edge.host).on("error", () => {}));
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
  await expect.poll(() => edge.load().connections).toBe(40);
  for (const socket of sockets) socket.write(hello);
  await expect.poll(() => counted.all).toBe(40);
  expect(counted.most).toBe(1);
});

it("tells a client that speaks plain HTTP to use https", async () => {
  const edge = await startEdge({ tls: { cert: fixture("pem"), key: fixture("key") } });
  onTestFinished(() => edge.close());
  for (const first of ["GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n", HTTP2_PREFACE]) {
    const socket = net.connect(edge.port, edge.host).setEncoding("latin1");
    socket.write(first);
    const answer = (await socket.toArray()).join("");
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain("This port speaks TLS. Use https.");
  }
  expect(edge.load().connections).toBe(0);
});

/** Handshakes, and the connections whose handshake has begun. */
function start(silentMs = 60_000, onBegun: (socket: Socket) => void = () => {}) {
  const undecided = new Set<Socket>();
  const begun: Socket[] = [];
  const shakeHands = (socket: Socket) => {
    begun.push(socket);
    onBegun(socket);
  };
  const handshakes = new Handshakes({
    silentMs,
    undecided,
    refusePlain: (socket) => void socket.destroy(),
    shakeHands,
  });
  const open = (count: number) =>
    Array.from({ length: count }, () => {
      const socket = new Socket();
      onTestFinished(() => void socket.destroy());
      handshakes.begin(socket);
      return socket;
    });
  return { undecided, begun, open };
}

it("puts back what was read, and begins none that is gone", async () => {
  const { undecided, begun, open } = start(60_000, (socket) => {
    if (socket === first) gone.destroy(new Error("reset by its client"));
  });
  const [first, gone, last] = open(3) as [Socket, Socket, Socket];
  expect(undecided.size).toBe(3);
  for (const socket of [first, gone, last]) socket.push("hello");
  await expect.poll(() => begun.length).toBe(2);
  await nextTurn();
  expect(begun).toEqual([first, last]);
  expect(undecided.size).toBe(0);
  expect(String(last.read())).toBe("hello");
});

it("closes a connection that ends or stays silent, and what comes while those that wait hold too much", async () => {
  const { undecided, begun, open } = start(20);
  const [ended, silent] = open(2) as [Socket, Socket];
  ended.push(null);
  await expect.poll(() => ended.destroyed && silent.destroyed).toBe(true);
  expect(undecided.size).toBe(0);
  const many = open(1_100);
  for (const socket of many) socket.push("hello");
  await expect.poll(() => begun.length + many.filter(({ destroyed }) => destroyed).length).toBe(1_100);
  expect(begun.length).toBeGreaterThan(1_000);
  expect(begun.length).toBeLessThan(1_100);
});
