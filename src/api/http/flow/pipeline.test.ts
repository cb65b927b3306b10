import { once } from "node:events";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, expect, test } from "vitest";
import { isHeldBack, serveInTurn, unendedOn } from "./pipeline.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

let server: http.Server;
const nowMs = () => performance.now();
afterEach(() => server.close());

/** Starts a server that answers every request at once, or once it is let. */
async function start(mostWaiting: number, mayAnswer = Promise.resolve()): Promise<number> {
  const answer: http.RequestListener = (_, response) => void mayAnswer.then(() => response.end("ok"));
  server = http.createServer(serveInTurn(answer, { requestIds: () => "id", nowMs, mostWaiting, lateMs: 1_000 }));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** Sends this many requests in one write. @returns the statuses received until the connection closed */
async function pipeline(port: number, requests: number): Promise<string[]> {
  const socket = net.connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  const ordinary = "GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(requests - 1);
  socket.write(`${ordinary}GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  await once(socket, "close");
  return [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status!);
}

test("requests beyond what may wait in all are refused, and the connection closes", async () => {
  const port = await start(16);
  expect(await pipeline(port, 1_000)).toEqual([...Array.from({ length: 17 }, () => "200"), "429"]);
  // Node's parsers are used again: the next connection must find its own as it was.
  for (let i = 0; i < 5; i++) expect(await pipeline(port, 3)).toEqual(["200", "200", "200"]);
});

test("a connection that pipelines endlessly is held back, not refused", async () => {
  const port = await start(4_096);
  const statuses = await pipeline(port, 20_000);
  expect(statuses).toHaveLength(20_000);
  expect(new Set(statuses)).toEqual(new Set(["200"]));
});

test("while many requests wait on one connection, a few on another are served", async () => {
  const { promise: mayAnswer, resolve } = Promise.withResolvers<void>();
  const port = await start(16, mayAnswer);
  const many = pipeline(port, 100);
  await once(server, "request");
  const few = pipeline(port, 4);
  await once(server, "request");
  const more = pipeline(port, 10);
  await once(server, "request");
  resolve();
  expect(await many).toEqual([...Array.from({ length: 17 }, () => "200"), "429"]);
  expect(await few).toEqual(["200", "200", "200", "200"]);
  // One is served and four may wait.
  expect(await more).toEqual(["200", "200", "200", "200", "200", "429"]);
});

test("an idle connection keeps nothing of its last request", async () => {
  const port = await start(16);
  const served: WeakRef<http.ServerResponse>[] = [];
  server.on("request", (_, response) => served.push(new WeakRef(response)));
  const sockets = Array.from({ length: 8 }, () => net.connect(port, "127.0.0.1"));
  for (const socket of sockets) {
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(socket, "data");
  }
  expect(served).toHaveLength(8);
  // On a busy machine a client reads its answer before the server has ended it.
  const kept = () => {
    collect();
    return served.filter((response) => response.deref() !== undefined).length;
  };
  await expect.poll(kept).toBe(0);
  for (const socket of sockets) socket.destroy();
});

test("answers to come are known also between the end of the one before and their turn", async () => {
  const toCome: (string | undefined)[][] = [];
  const answer: http.RequestListener = ({ socket }, response) => {
    response.once("close", () => toCome.push(unendedOn(socket).map(({ req }) => req.url)));
    response.end("ok");
  };
  server = http.createServer(serveInTurn(answer, { requestIds: () => "id", nowMs, lateMs: 1_000 }));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  expect(await pipeline((server.address() as AddressInfo).port, 3)).toEqual(["200", "200", "200"]);
  expect(toCome).toEqual([["/", "/"], ["/"], []]);
});

test("a connection whose requests are held back until they are late keeps nothing of each time", async () => {
  const port = await start(4_096);
  let late = 0;
  const listeners: number[] = [];
  server.on("request", ({ socket }: http.IncomingMessage) => {
    if (isHeldBack(socket)) late += 1;
    listeners.push(socket.listenerCount("close"));
  });
  expect(await pipeline(port, 4_000)).toHaveLength(4_000);
  expect(late).toBeGreaterThan(11);
  expect(Math.max(...listeners.slice(100))).toBeLessThanOrEqual(Math.max(...listeners.slice(0, 100)));
});

test("requests that wait when their connection closes are not broken off one by one", async () => {
  const broken: string[] = [];
  const serve = serveInTurn(() => {}, { requestIds: () => "id", nowMs, mostWaiting: 4_096, lateMs: 1_000 });
  server = http.createServer((request, response) => {
    request.on("close", () => broken.push(request.url!)).on("error", () => {});
    serve(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = net.connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => {});
  const asked = once(server, "request") as Promise<[http.IncomingMessage]>;
  socket.write(Array.from({ length: 500 }, (_, i) => `GET /${i} HTTP/1.1\r\nHost: x\r\n\r\n`).join(""));
  const [first] = await asked;
  const closed = once(socket, "close");
  first.socket.destroy();
  await closed;
  await expect.poll(() => broken).toEqual(["/0"]);
});

test("requests that wait on many connections share half a millisecond of each turn", async () => {
  let turn = 0;
  const countTurns = (): void => {
    turn += 1;
    counting = setImmediate(countTurns);
  };
  let counting = setImmediate(countTurns);
  const known = new Set<net.Socket>();
  const servedIn: number[] = [];
  const slow: http.RequestListener = ({ socket }, response) => {
    // The first request of a connection waits for nothing.
    if (known.has(socket)) servedIn.push(turn);
    known.add(socket);
    for (const untilMs = performance.now() + 0.3; performance.now() < untilMs; );
    response.end("ok");
  };
  server = http.createServer(serveInTurn(slow, { requestIds: () => "id", nowMs, lateMs: 1_000 }));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const all = await Promise.all(Array.from({ length: 20 }, () => pipeline(port, 30)));
  clearImmediate(counting);
  expect(new Set(all.flat())).toEqual(new Set(["200"]));
  expect(servedIn).toHaveLength(580);
  // Two of 0.3 ms in a turn; what is counted here may end before them in one turn and after them in the next.
  const inTurns = Map.groupBy(servedIn, (one) => one);
  expect(Math.max(...[...inTurns.values()].map(({ length }) => length))).toBeLessThanOrEqual(4);
});
