import { once } from "node:events";
import http2 from "node:http2";
import net from "node:net";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterEach, expect, it } from "vitest";
import { TradeService } from "../../gen/tradewire/v1/trade_pb.ts";
import { type Edge, startEdge } from "../support/edge.ts";
import { ALICE, BOB, fakeSign, TOKEN } from "../support/fake-trades.ts";

// Server-sent events are bounded as the typed streams are: by places, and by what waits to be read.

let edge: Edge | undefined;
afterEach(async () => {
  await edge?.close();
  edge = undefined;
});

const urlOf = ({ port }: Edge): string => `http://127.0.0.1:${port}`;
const headersOf = (key: string) => ({ authorization: `Bearer ${key}` });

/** Submits a trade of Alice. Returns where its events are. */
async function submitted(edge: Edge): Promise<{ readonly signature: string; readonly path: string }> {
  const post = async (path: string, body: object) => {
    const headers = { ...headersOf(ALICE.key), "content-type": "application/json" };
    const response = await fetch(urlOf(edge) + path, { method: "POST", headers, body: JSON.stringify(body) });
    return (await response.json()).data;
  };
  const order = { mint: TOKEN.toString(), solAmount: 1, slippage: 0.05, priority: "fast" };
  const { submissionToken, unsignedTransaction } = await post("/v1/tx/buy", order);
  const signed = fakeSign(Buffer.from(unsignedTransaction, "base64"));
  const signedTransaction = Buffer.from(signed).toString("base64");
  const { signature } = await post("/v1/tx/submit", { submissionToken, signedTransaction });
  return { signature, path: `/v1/tx/${signature}/events` };
}

it("take the same places as typed streams, and give them back however they end", async () => {
  edge = await startEdge({ maxStreamsPerKey: 2 });
  const { trades } = edge;
  const { signature, path } = await submitted(edge);
  const { watch } = trades;
  let served = 0;
  trades.watch = async function* (principal, wanted, signal) {
    yield* watch(principal, wanted, signal);
    served++;
    try {
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    } finally {
      served--;
    }
  };
  const url = urlOf(edge) + path;
  const open = async (key: string) => {
    const leaving = new AbortController();
    const response = await fetch(url, { headers: headersOf(key), signal: leaving.signal });
    return { response, leave: () => leaving.abort() };
  };
  const first = await open(ALICE.key);
  const typed = new AbortController();
  const client = createClient(TradeService, createGrpcTransport({ baseUrl: urlOf(edge) }));
  const reading = (async () => {
    for await (const _ of client.watchTrade({ signature }, { headers: headersOf(ALICE.key), signal: typed.signal }));
  })().catch(() => {});
  await expect.poll(() => served).toBe(2);

  const { response: refused } = await open(ALICE.key);
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("1");
  const { error } = await refused.json();
  expect(error).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", retryable: true });
  // Another key has places of its own, and a stream of nothing keeps none.
  for (let i = 0; i < 4; i++) expect((await open(BOB.key)).response.status).toBe(404);

  first.leave();
  await expect.poll(() => served).toBe(1);
  const again = await open(ALICE.key);
  expect(again.response.status).toBe(200);
  await expect.poll(() => served).toBe(2);
  again.leave();
  typed.abort();
  await reading;
  await expect.poll(() => served).toBe(0);
});

/** A stream that never ends, of large messages. Returns how many were taken from it, and whether it goes on. */
function streamForever({ trades }: Edge): { readonly taken: () => number; readonly isOpen: () => boolean } {
  const { watch } = trades;
  let [taken, open] = [0, 0];
  trades.watch = async function* (principal, signature, signal) {
    open++;
    try {
      for await (const trade of watch(principal, signature, signal)) {
        for (;;) {
          taken++;
          yield { ...trade, pendingReason: "x".repeat(100_000) };
        }
      }
    } finally {
      open--;
    }
  };
  return { taken: () => taken, isOpen: () => open > 0 };
}

it("end the connection of a caller who does not read, and hold little until then", async () => {
  edge = await startEdge({ stallTimeoutMs: 1_000 });
  const { path } = await submitted(edge);
  const stream = streamForever(edge);
  const socket = net.connect(edge.port, "127.0.0.1");
  socket.on("error", () => {});
  const closed = once(socket, "close");
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ALICE.key}\r\n\r\n`);
  await expect.poll(() => stream.isOpen()).toBe(true);
  await expect.poll(() => stream.isOpen()).toBe(false);
  // What the system's own buffers took, which hold a few MiB: not what a stream without end could fill.
  expect(stream.taken()).toBeLessThan(300);
  socket.resume();
  await closed;
});

it("end the stream of an HTTP/2 caller that does not read", async () => {
  edge = await startEdge({ stallTimeoutMs: 1_000 });
  const { path } = await submitted(edge);
  const stream = streamForever(edge);
  const session = http2.connect(urlOf(edge));
  session.on("error", () => {});
  const request = session.request({ ":path": path, authorization: `Bearer ${ALICE.key}` });
  request.on("error", () => {});
  const closed = once(request, "close");
  await expect.poll(() => stream.isOpen()).toBe(true);
  await closed;
  await expect.poll(() => stream.isOpen()).toBe(false);
  expect(stream.taken()).toBeLessThan(10);
  session.destroy();
});
