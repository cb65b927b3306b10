import { once } from "node:events";
import { readFileSync } from "node:fs";
import http2 from "node:http2";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import tls from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import { type Edge, startEdge } from "../support/edge.ts";
import { ALICE, fakeSign, TOKEN } from "../support/fake-trades.ts";

const PING = "GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n";
const post = (path: string, json: object) => {
  const body = JSON.stringify(json);
  const head = `Host: x\r\nAuthorization: Bearer ${ALICE.key}\r\nContent-Type: application/json\r\n`;
  return `POST ${path} HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`;
};
const BUY = post("/v1/tx/buy", { mint: TOKEN.toString(), solAmount: 1, slippage: 0, priority: "fast" });

const fixture = (file: string) => readFileSync(new URL(`../fixtures/tls/localhost.${file}`, import.meta.url), "utf8");
const certificate = { cert: fixture("pem"), key: fixture("key") };
const edges: Edge[] = [];
const sockets: net.Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(edges.splice(0).map((edge) => edge.close()));
});

/** An edge whose builds wait, once they are to. */
async function start(isSecure = false) {
  const edge = await startEdge(isSecure ? { tls: certificate } : {});
  edges.push(edge);
  let held: Promise<void> | undefined;
  let begun = 0;
  const { build } = edge.trades;
  edge.trades.build = async (asked) => {
    begun++;
    await held;
    return build(asked);
  };
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    begun = 0;
    return resolve;
  };
  return { edge, hold, begun: () => begun };
}

/** A connection that can end its side alone. */
async function connect({ host, port }: Edge, isSecure = false) {
  const options = { host, port, allowHalfOpen: true };
  const socket = isSecure
    ? tls.connect({ ...options, rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] })
    : net.connect(options);
  sockets.push(socket);
  await once(socket, isSecure ? "secureConnect" : "connect");
  socket.setNoDelay(true);
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk) => {
    text += chunk;
  });
  socket.on("error", () => {}).on("end", () => socket.end());
  const closed = once(socket, "close");
  /** What each answer says of itself and its connection. */
  const answers = () =>
    [...text.matchAll(/HTTP\/1\.1 (\d+).*?\r\nconnection: ([\w-]+)/gis)].map(([, a, b]) => `${a} ${b}`);
  const until = async (count: number) => {
    await expect.poll(answers).toHaveLength(count);
  };
  return { socket, answers, until, closed, text: () => text };
}

/** The answers of a connection that closes after this many. */
const lastOf = (count: number) => [...Array.from({ length: count - 1 }, () => "200 keep-alive"), "200 close"];

describe.each([
  ["HTTP", false],
  ["HTTPS", true],
])("a client that ends its side, over %s", (_, isSecure) => {
  // The first two requests of a connection are read by the server, later ones in front of it.
  it.each([0, 3])("gets the answers to what it sent after %i requests, then the connection closes", async (before) => {
    const { edge, hold, begun } = await start(isSecure);
    for (const count of [1, 2, 40]) {
      const { socket, answers, until, closed } = await connect(edge, isSecure);
      for (let i = 1; i <= before; i++) {
        socket.write(BUY);
        await until(i);
      }
      const letGo = hold();
      socket.end(BUY.repeat(count));
      await expect.poll(begun).toBe(1);
      // Its end is read before the answer.
      await (await connect(edge, isSecure)).socket.end(PING);
      await sleep(20);
      letGo();
      await closed;
      expect(answers().slice(before)).toEqual(lastOf(count));
    }
  });

  it("is told that what it sent is no whole request", async () => {
    const { edge } = await start(isSecure);
    const { socket, answers, closed } = await connect(edge, isSecure);
    socket.end(BUY + BUY.slice(0, -5));
    await closed;
    expect(answers()).toEqual(["200 keep-alive", "400 close"]);
  });

  it("keeps no stream open", async () => {
    const { edge } = await start(isSecure);
    const { socket, until, closed, text } = await connect(edge, isSecure);
    socket.write(BUY);
    await until(1);
    const { submissionToken, unsignedTransaction } = JSON.parse(text().slice(text().indexOf("{"))).data;
    const signedTransaction = Buffer.from(fakeSign(Buffer.from(unsignedTransaction, "base64"))).toString("base64");
    socket.write(post("/v1/tx/submit", { submissionToken, signedTransaction }));
    await until(2);
    const { watch } = edge.trades;
    let open = 0;
    edge.trades.watch = async function* (principal, signature, signal) {
      open++;
      yield* watch(principal, signature, signal);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      open--;
    };
    const signature = /"signature":"(\w+)"/.exec(text())![1];
    socket.write(`GET /v1/tx/${signature}/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ALICE.key}\r\n\r\n`);
    await expect.poll(text).toContain("event: trade");
    expect(open).toBe(1);
    socket.end();
    await closed;
    await expect.poll(() => open).toBe(0);
  });
});

describe.each([0, 3])("while the service drains, a connection with %i requests before", (before) => {
  /** A connection with so many answers, of whose calls further ones wait. */
  async function begin(text: string) {
    const { edge, hold, begun } = await start();
    const connection = await connect(edge);
    for (let i = 1; i <= before; i++) {
      connection.socket.write(BUY);
      await connection.until(i);
    }
    const letGo = hold();
    if (text !== "") {
      connection.socket.write(text);
      await expect.poll(begun).toBe(1);
    }
    return { ...connection, edge, letGo };
  }

  it.each([1, 3])("closes with the last of %i answers in flight, and says so", async (count) => {
    const { edge, answers, closed, letGo } = await begin(BUY.repeat(count));
    edge.drain();
    letGo();
    await closed;
    expect(answers().slice(before)).toEqual(lastOf(count));
  });

  it("answers what is sent before the client can know", async () => {
    const { edge, socket, answers, closed, letGo } = await begin(BUY);
    edge.drain();
    socket.write(BUY);
    await sleep(20);
    socket.write(BUY.repeat(2) + PING);
    await sleep(20);
    letGo();
    await closed;
    expect(answers().slice(before)).toEqual(lastOf(5));
  });

  it("answers all that comes in one write", async () => {
    const { edge, socket, answers, closed, letGo } = await begin("");
    edge.drain();
    letGo();
    socket.write(PING.repeat(3) + BUY);
    await closed;
    expect(answers().slice(before)).toEqual(lastOf(4));
  });

  it("answers what came before something that is no request", async () => {
    const { edge, socket, answers, closed, letGo } = await begin("");
    edge.drain();
    letGo();
    socket.write(`${PING}nonsense\r\n\r\n`);
    await closed;
    expect(answers().slice(before)).toEqual(lastOf(1));
  });

  it("serves nothing behind the answer that closes it", async () => {
    const { edge, socket, answers, closed, letGo } = await begin("");
    edge.drain();
    letGo();
    let built = 0;
    const { build } = edge.trades;
    edge.trades.build = (asked) => {
      built++;
      return build(asked);
    };
    socket.write(BUY.repeat(200));
    await closed;
    expect(answers().slice(before)).toEqual(lastOf(64));
    expect(built).toBe(64);
  });
});

it.each(["before", "after"])("while the service drains, streams sent just %s are all answered", async (when) => {
  const { edge } = await start();
  const session = http2.connect(`http://${edge.host}:${edge.port}`);
  await once(session, "remoteSettings");
  const goaway = once(session, "goaway");
  const ask = async () => {
    const stream = session.request({ ":path": "/v1/ping" }).resume();
    const [headers] = await once(stream, "response");
    return headers[":status"];
  };
  if (when === "after") edge.drain();
  const asked = Array.from({ length: 20 }, ask);
  if (when === "before") setImmediate(() => edge.drain());
  expect(await Promise.all(asked)).toEqual(asked.map(() => 200));
  await goaway;
});

it("clients that keep their connections lose no answer while one process after another restarts", async () => {
  const processes = [(await start()).edge, (await start()).edge];
  let isOver = false;
  let asked = 0;
  /** Asks one thing after another, each time over the connection before if that was kept. */
  const client = async (name: number) => {
    let connection: Awaited<ReturnType<typeof connect>> | undefined;
    let answered = 0;
    for (let i = 0; !isOver; i++) {
      if (connection === undefined) {
        connection = await connect(processes[(name + i) % 2]!).catch(() => undefined);
        answered = 0;
        if (connection === undefined) continue;
      }
      asked++;
      connection.socket.write(i % 2 === 0 ? BUY : PING);
      await connection.until(++answered);
      const isKept = connection.answers().at(-1) === "200 keep-alive";
      if (!isKept) connection = undefined;
    }
  };
  const clients = [0, 1, 2, 3, 4, 5].map(client);
  /** Further calls, most of them over connections that were kept. */
  const calls = async (count: number) => {
    const until = asked + count;
    await expect.poll(() => asked).toBeGreaterThanOrEqual(until);
  };
  for (const place of [0, 1, 0, 1]) {
    await calls(20);
    const old = processes[place]!;
    old.drain();
    await calls(20);
    processes[place] = (await start()).edge;
    await old.close();
  }
  isOver = true;
  await Promise.all(clients);
});
