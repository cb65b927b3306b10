import { once } from "node:events";
import http from "node:http";
import net, { type AddressInfo, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { serveInTurn } from "../flow/pipeline.ts";
import { countRequest } from "../flow/request-count.ts";
import type { Refusal } from "./lane-connection.ts";
import { PlainLane } from "./plain-lane.ts";

const BODY = '{"mint":"So11"}';
const request = (body = BODY, lines = "") =>
  `POST /build HTTP/1.1\r\nHost: here\r\n${lines}Content-Length: ${body.length}\r\n\r\n${body}`;
const REFUSAL: Refusal = { status: 503, headers: ["content-length", "4", "retry-after", "1"], body: "full" };
const MOST = 12;

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A server that refuses every POST to /build while it is full, and a connection to it. */
async function connect() {
  const state = { isFull: true, isClosing: false, again: 0, seen: [] as string[] };
  const settings = { keepAliveHintMs: 5_000, keepAliveMs: 6_000, maxRequestsPerConnection: MOST };
  const refuse = () => {
    if (!state.isFull) return undefined;
    state.again++;
    return REFUSAL;
  };
  const lane = new PlainLane({ settings, isClosing: () => state.isClosing, wallMs: () => 0, refuse });
  const handler: http.RequestListener = (incoming, response) => {
    if (countRequest(incoming.socket) >= MOST || state.isClosing) response.shouldKeepAlive = false;
    let body = "";
    incoming.on("data", (chunk) => (body += chunk));
    incoming.on("end", () => state.seen.push(body));
    if (state.isFull) {
      response.writeHead(REFUSAL.status, REFUSAL.headers as string[]).end(REFUSAL.body);
      lane.watch(incoming, response);
    } else incoming.on("end", () => response.writeHead(200, { "content-length": 2 }).end("ok"));
  };
  const server = http.createServer(
    { keepAliveTimeout: 5_000 },
    serveInTurn(handler, { requestIds: () => "id", nowMs: () => performance.now(), lateMs: 1_000 }),
  );
  server.maxRequestsPerSocket = MOST;
  server.on("clientError", (_, socket) => socket.end("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"));
  const accepted = once(server, "connection") as Promise<[Socket]>;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = net.connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [socket] = await accepted;
  closers.push(() => {
    client.destroy();
    server.close();
  });
  let text = "";
  let isClosed = false;
  client.on("data", (chunk) => (text += chunk.toString("latin1")));
  client.on("close", () => (isClosed = true));
  const until = async (isReached: () => boolean) => {
    while (!isReached()) await new Promise((resolve) => setImmediate(resolve));
  };
  const answers = () => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
  let sent = 0;
  return {
    state,
    answers,
    texts: () => text.split(/(?=HTTP\/1\.1 )/),
    isClosed: () => until(() => isClosed),
    /** Sends bytes that the server reads at once, apart from those before and after. */
    async send(bytes: string) {
      client.write(bytes, "latin1");
      sent += bytes.length;
      await until(() => isClosed || socket.bytesRead >= sent);
    },
    /** Resolves once there are so many answers, and nothing more comes. */
    async answered(count: number) {
      await until(() => isClosed || answers().length >= count);
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
      return answers();
    },
    async ask(bytes = request()) {
      const before = answers().length;
      await this.send(bytes);
      return this.answered(before + 1);
    },
  };
}

describe("connections that were refused", () => {
  it("are refused again from the bytes, like by the server", async () => {
    const caller = await connect();
    for (let i = 0; i < 6; i++) await caller.ask();
    expect(caller.answers()).toEqual([503, 503, 503, 503, 503, 503]);
    expect(caller.state).toMatchObject({ seen: [BODY, BODY], again: 4 });
    const alike = caller.texts().map((text) => text.replace(/Date: .*/i, "Date").toLowerCase());
    expect(new Set(alike).size).toBe(1);
  });

  it("are served as soon as there is room, and refused again after it", async () => {
    const caller = await connect();
    for (let i = 0; i < 3; i++) await caller.ask();
    caller.state.isFull = false;
    await caller.ask();
    caller.state.isFull = true;
    expect(await caller.ask()).toEqual([503, 503, 503, 200, 503]);
    expect(caller.state.again).toBe(2);
  });

  it("leave to the server anything but one complete request in plain form, and from then on everything", async () => {
    const plain = request();
    const odd = [
      plain + plain,
      request(BODY, "Transfer-Encoding: identity\r\n"),
      request(BODY, "Connection: close\r\n"),
      request(BODY, `Content-Length: ${BODY.length}\r\n`),
      request(BODY, "Host: there\r\n"),
      request(BODY, "Origin: https://page\r\n"),
      request(BODY, "Expect: 100-continue\r\n"),
      plain.replace("POST", "PUT"),
      plain.replaceAll("\r\n", "\n"),
      plain.replace("HTTP/1.1", "HTTP/1.0"),
      plain.replace("Host: here\r\n", ""),
      plain.replace("Host: here", "Host: here\r\n folded"),
    ];
    for (const bytes of odd) {
      const caller = await connect();
      for (let i = 0; i < 3; i++) await caller.ask();
      expect(caller.state.again).toBe(1);
      await caller.ask(bytes);
      await caller.ask();
      expect(caller.state.again, bytes).toBe(1);
    }
  });

  it("keep in step wherever a request is split, before and after the first refusal", async () => {
    const bytes = request();
    for (let at = 1; at < bytes.length; at += 7) {
      for (const wholeBefore of [0, 1, 2, 3]) {
        const caller = await connect();
        for (let i = 0; i < wholeBefore; i++) await caller.ask();
        await caller.send(bytes.slice(0, at));
        await caller.send(bytes.slice(at));
        await caller.answered(wholeBefore + 1);
        expect((await caller.ask()).length, `split at ${at} after ${wholeBefore}`).toBe(wholeBefore + 2);
      }
    }
  });

  it("never take a body for a request", async () => {
    const hidden = request();
    for (const body of [hidden, hidden + hidden, request(hidden)]) {
      const head = request(body).slice(0, -body.length);
      for (const wholeBefore of [0, 1, 2, 3]) {
        const caller = await connect();
        for (let i = 0; i < wholeBefore; i++) await caller.ask();
        await caller.send(head);
        await caller.send(body);
        await caller.answered(wholeBefore + 1);
        await caller.ask();
        expect(await caller.ask()).toHaveLength(wholeBefore + 3);
        if (wholeBefore < 2) expect(caller.state.seen[wholeBefore]).toBe(body);
      }
    }
  });

  it("never take the end of a hidden request for the beginning of the next", async () => {
    // The first chunk's request ends within what seems to be a request of its own: only its end is the server's second request.
    const head = "POST /build HTTP/1.1\r\nX: ";
    const second = `${head}${request()}`;
    const caller = await connect();
    await caller.ask();
    await caller.send(`POST /build HTTP/1.1\r\nHost: here\r\nContent-Length: ${head.length}\r\n\r\n`);
    await caller.send(second);
    await caller.answered(3);
    for (let i = 0; i < 3; i++) await caller.ask();
    expect(caller.answers()).toHaveLength(6);
    expect(caller.state.seen.slice(0, 3)).toEqual([BODY, head, BODY]);
  });

  it("close after their last request, and while the service closes", async () => {
    const caller = await connect();
    for (let i = 0; i < MOST; i++) await caller.ask();
    await caller.isClosed();
    expect(caller.answers()).toHaveLength(MOST);
    expect(caller.texts().at(-1)).toMatch(/connection: close/i);
    const other = await connect();
    for (let i = 0; i < 3; i++) await other.ask();
    other.state.isClosing = true;
    await other.ask();
    await other.isClosed();
    expect(other.texts().at(-1)).toMatch(/connection: close/i);
  });
});
