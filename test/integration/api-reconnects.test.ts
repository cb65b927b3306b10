import { once } from "node:events";
import { readFileSync } from "node:fs";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import tls from "node:tls";
import { expect, it } from "vitest";
import { startEdge } from "../support/edge.ts";
import { HTTP2_PREFACE, headersFrame, settingsFrame } from "../support/http2-frames.ts";

const CALLERS = 6;
const ROUNDS = 10;
/** Longer than a test may take. Milliseconds. */
const DRAIN_MS = 600_000;
/** As long as a port that is to close accepts connections without serving them. Milliseconds. */
const HOLD_MS = 100;
/** For which a connection may be silent after that, at most. Milliseconds. */
const GRACE_MS = 1_000;

/** Sends a request on a connection of its own. @returns what became of it */
function ping(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const socket = net.connect(port, host, () => socket.write("GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n"));
    socket.setEncoding("latin1").on("data", (chunk) => {
      text += chunk;
      if (!text.includes("\r\n\r\n")) return;
      socket.destroy();
      resolve("answered");
    });
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code!)).on("close", () => resolve("closed"));
  });
}

it("answers or refuses each caller that connects anew while its port closes", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { host, port, drain, close } = await startEdge();
    const call = async () => {
      let last = "answered";
      while (last === "answered") last = await ping(host, port);
      return last;
    };
    const ends = Array.from({ length: CALLERS }, call);
    await sleep(20);
    drain();
    await close();
    expect(await Promise.all(ends)).toEqual(Array(CALLERS).fill("ECONNREFUSED"));
  }
});

it("resets none of many callers who connect in the turn in which the port is to close", async () => {
  const { host, port, drain, close } = await startEdge();
  drain();
  const ends: Promise<string>[] = [];
  setTimeout(() => ends.push(...Array.from({ length: 60 }, () => ping(host, port))), HOLD_MS);
  await close();
  expect((await Promise.all(ends)).filter((end) => end !== "answered" && end !== "ECONNREFUSED")).toEqual([]);
});

interface Certificate {
  readonly cert: string;
  readonly key: string;
}

const tlsFile = (end: string) => readFileSync(`test/fixtures/tls/localhost.${end}`, "utf8");

/** A request on a connection that was made before its port closed. @returns the answer */
async function firstRequest(certificate: Certificate | undefined, afterWriting: () => void): Promise<string> {
  const { host, port, close } = await startEdge({ tls: certificate });
  const socket =
    certificate === undefined
      ? net.connect(port, host)
      : tls.connect({ port, host, rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] });
  await once(socket, certificate === undefined ? "connect" : "secureConnect");
  const closed = close();
  // Until idle connections have been closed a few times.
  await sleep(HOLD_MS + 200);
  let answer = "";
  socket.setEncoding("latin1").on("data", (chunk) => {
    answer += chunk;
  });
  // In the next turn, what is due comes before what there is to read.
  setImmediate(() => {
    socket.write("GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n");
    afterWriting();
  });
  await once(socket, "close");
  await closed;
  return answer;
}

const ways: [string, Certificate | undefined][] = [
  ["HTTP", undefined],
  ["TLS", { cert: tlsFile("pem"), key: tlsFile("key") }],
];

it.each(ways)(
  "serves the first request of a connection over %s that comes as the port has just closed",
  async (_, certificate) => {
    expect(await firstRequest(certificate, () => {})).toMatch(/^HTTP\/1\.1 200 /);
  },
);

it.each(ways)("serves it over %s though the process reads nothing until its time is over", async (_, certificate) => {
  const standStill = () => {
    for (const untilMs = Date.now() + GRACE_MS + 200; Date.now() < untilMs; );
  };
  expect(await firstRequest(certificate, standStill)).toMatch(/^HTTP\/1\.1 200 /);
});

it.each([
  ["head", "POST /v1/tx/buy HTTP/1.1\r\nHost"],
  ["body", "POST /v1/tx/buy HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"],
])("while it stops, cuts off a client that does not finish its %s in time", async (_, part) => {
  const timeouts = { headersTimeoutMs: 500, requestTimeoutMs: 500, timeoutCheckMs: 50 };
  const { host, port, close } = await startEdge({ ...timeouts, drainMs: DRAIN_MS });
  const socket = net.connect(port, host);
  let answer = "";
  socket.setEncoding("latin1").on("data", (chunk) => {
    answer += chunk;
  });
  await once(socket, "connect");
  socket.write(part);
  await Promise.all([close(), once(socket, "close")]);
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
});

it("does not wait long for connections over TLS that send nothing", async () => {
  const { host, port, close } = await startEdge({
    tls: { cert: tlsFile("pem"), key: tlsFile("key") },
    drainMs: DRAIN_MS,
  });
  const socket = tls.connect({ port, host, rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] });
  await once(socket, "secureConnect");
  await Promise.all([close(), once(socket.resume(), "close")]);
});

it.each([
  ["does not close its side", Buffer.alloc(0)],
  ["has begun the head of a request", headersFrame(1, "GET", "/v1/ping").subarray(0, -3)],
])("does not wait long for an HTTP/2 client that %s", async (_, part) => {
  const { host, port, close } = await startEdge({ drainMs: DRAIN_MS });
  const socket = net.connect({ port, host, allowHalfOpen: true }).on("error", () => {});
  socket.write(Buffer.concat([HTTP2_PREFACE, settingsFrame(), part]));
  await once(socket, "data");
  await close();
  socket.destroy();
});
