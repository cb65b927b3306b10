import net from "node:net";
import { Code, createClient } from "@connectrpc/connect";
import { compressionGzip, createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { afterEach, describe, expect, it } from "vitest";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../gen/grpc/health/v1/health_pb.ts";
import { TradeService } from "../../gen/tradewire/v1/trade_pb.ts";
import { Priority } from "../../gen/tradewire/v1/types_pb.ts";
import type { ApiSettings } from "../../src/api/settings.ts";
import { DEFAULT_API_SETTINGS } from "../support/api-settings.ts";
import { type Edge, startEdge as startEdgeOn } from "../support/edge.ts";
import { ALICE, BOB, fakeSign, TOKEN } from "../support/fake-trades.ts";

/** The clock of the rate limits: no bucket refills unless a test moves it. */
let nowMs = 0;
const startEdge = (changes: Partial<ApiSettings>) => startEdgeOn(changes, () => nowMs);

let edge: Edge | undefined;
afterEach(async () => {
  await edge?.close();
  edge = undefined;
});

const OFF = {
  build: 0,
  submit: 0,
  read: 0,
  addressBuild: 0,
  addressSubmit: 0,
  addressRead: 0,
  query: 0,
  addressQuery: 0,
  addressOpen: 0,
  addressRegister: 0,
  addressPage: 0,
  addressAuth: 0,
  burstSeconds: 1,
};
const BUY = { mint: TOKEN.toString(), solAmount: 0.1, slippage: 0.01, priority: "fast" };

function post(path: string, body: object, key = ALICE.key, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${edge!.port}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

it("limits the builds of each key, reports how many are left, and does not limit submits", async () => {
  edge = await startEdge({ limits: { ...OFF, build: 3 } });
  const built = await post("/v1/tx/buy", BUY);
  expect(built.status).toBe(200);
  expect(built.headers.get("ratelimit-policy")).toBe('"build";q=3;w=1');
  expect(built.headers.get("ratelimit")).toBe('"build";r=2;t=1');
  expect(built.headers.get("server-timing")).toMatch(/^receive;dur=[\d.]+, auth;dur=[\d.]+, validate;dur=/);
  const { data } = await built.json();
  await post("/v1/tx/buy", BUY);
  await post("/v1/tx/quote", { inputMint: "SOL", outputMint: BUY.mint, amount: 1, swapMode: "exactIn", slippage: 0 });
  const refused = await post("/v1/tx/buy", BUY);
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(refused.headers.get("ratelimit")).toBe('"build";r=0;t=1');
  expect((await refused.json()).error).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", retryable: true });
  expect((await post("/v1/tx/buy", BUY, BOB.key)).status).toBe(200);
  const signed = fakeSign(Buffer.from(data.unsignedTransaction, "base64"));
  const submit = { submissionToken: data.submissionToken, signedTransaction: Buffer.from(signed).toString("base64") };
  expect((await post("/v1/tx/submit", submit)).status).toBe(200);
  nowMs += 400;
  expect((await post("/v1/tx/buy", BUY)).status).toBe(200);
});

it("applies on every wire", async () => {
  edge = await startEdge({ limits: { ...OFF, build: 1 } });
  const baseUrl = `http://127.0.0.1:${edge.port}`;
  const request = { ...BUY, priority: Priority.FAST };
  for (const transport of [
    createConnectTransport({ baseUrl, httpVersion: "1.1" }),
    createGrpcTransport({ baseUrl }),
    createGrpcTransport({ baseUrl, sendCompression: compressionGzip, compressMinBytes: 0 }),
  ]) {
    const trades = createClient(TradeService, transport);
    const headers = { authorization: `Bearer ${ALICE.key}` };
    let policy: string | null = null;
    await trades.buy(request, { headers, onHeader: (header) => (policy = header.get("ratelimit-policy")) });
    expect(policy).toBe('"build";q=1;w=1');
    const refusal = await trades.buy(request, { headers }).catch((error) => error);
    expect(refusal.rawMessage).toContain("More than 1 build calls a second");
    expect(refusal.metadata.get("retry-after")).toBe("1");
    nowMs += 1_050;
  }
});

it("limits calls without a key by address and trusts a proxy only if one is configured", async () => {
  edge = await startEdge({ limits: { ...OFF, addressOpen: 1 } });
  const ask = (from: string) =>
    fetch(`http://127.0.0.1:${edge!.port}/v1/priority`, { headers: { "x-forwarded-for": from } });
  expect((await ask("10.0.0.1")).status).toBe(200);
  expect((await ask("10.0.0.2")).status).toBe(429);
  await edge.close();
  edge = await startEdge({ limits: { ...OFF, addressOpen: 1 }, trustedProxies: 1 });
  expect((await ask("10.0.0.1")).status).toBe(200);
  expect((await ask("10.0.0.2")).status).toBe(200);
  // The proxy added only the last address.
  expect((await ask("10.9.9.9, 10.0.0.1")).status).toBe(429);
});

it("ignores what a caller forwards that reaches it directly, past the proxies", async () => {
  edge = await startEdge({ limits: { ...OFF, addressOpen: 1 }, trustedProxies: 1, proxyAddresses: ["10.0.0.9"] });
  const ask = (from: string) =>
    fetch(`http://127.0.0.1:${edge!.port}/v1/priority`, { headers: { "x-forwarded-for": from } });
  expect((await ask("10.0.0.1")).status).toBe(200);
  expect((await ask("10.0.0.2")).status).toBe(429);
});

it("limits registration separately from other calls that need no key", async () => {
  edge = await startEdge({ limits: { ...OFF, addressOpen: 1, addressRegister: 2 } });
  const challenge = () => post("/v1/auth/challenge", { walletAddress: ALICE.wallet.toString() });
  const asked = await challenge();
  expect(asked.status).toBe(200);
  expect(asked.headers.get("ratelimit-policy")).toBe('"address-register";q=2;w=1');
  expect((await fetch(`http://127.0.0.1:${edge.port}/v1/priority`)).status).toBe(200);
  expect((await post("/v1/auth/register", {})).status).toBe(400);
  const refused = await challenge();
  expect(refused.status).toBe(429);
  expect((await refused.json()).error.message).toContain("More than 2 register calls a second from this address");
});

it("limits reads by address and reports the key's own limit first", async () => {
  edge = await startEdge({ limits: { ...OFF, read: 5, addressRead: 2 } });
  const read = (key: string) =>
    fetch(`http://127.0.0.1:${edge!.port}/v1/auth/profile`, { headers: { authorization: `Bearer ${key}` } });
  expect((await read(ALICE.key)).headers.get("ratelimit")).toBe('"read";r=4;t=1');
  expect((await read(BOB.key)).status).toBe(200);
  const refused = await read(ALICE.key);
  expect(refused.status).toBe(429);
  expect(refused.headers.get("ratelimit")).toBe('"address-read";r=0;t=1');
});

it("limits apart what asks a node or reads many records", async () => {
  const ask = async (path: string, key = ALICE.key) => {
    const answer = await fetch(`http://127.0.0.1:${edge!.port}${path}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    return [answer.status, answer.headers.get("ratelimit")];
  };
  edge = await startEdge({ limits: { ...OFF, read: 5, query: 2, addressQuery: 3 } });
  expect(await ask("/v1/auth/balances")).toEqual([200, '"query";r=1;t=1']);
  expect(await ask("/v1/tx")).toEqual([200, '"query";r=0;t=1']);
  expect(await ask("/v1/tx?status=failed")).toEqual([429, '"query";r=0;t=1']);
  expect(await ask("/v1/auth/profile")).toEqual([200, '"read";r=4;t=1']);
  expect((await ask("/v1/auth/balances", BOB.key))[1]).toContain('"address-query"');
});

describe("calls without a valid key", () => {
  const LIMITED = { ...OFF, addressAuth: 1, burstSeconds: 6 };

  it("are refused before a key is looked up, while keys in memory are served", async () => {
    edge = await startEdge({ limits: LIMITED });
    const wrong = await post("/v1/tx/buy", BUY, "api_wrong");
    expect(wrong.status).toBe(401);
    expect(wrong.headers.get("ratelimit-policy")).toBe('"address-auth";q=6;w=6');
    expect(wrong.headers.get("ratelimit")).toBe('"address-auth";r=5;t=1');
    // Bob's key is looked up, Alice's is in memory.
    expect((await post("/v1/tx/buy", BUY, BOB.key)).status).toBe(200);
    for (let i = 0; i < 5; i++) {
      const missing = await fetch(`http://127.0.0.1:${edge.port}/v1/auth/profile`);
      expect(missing.status).toBe(401);
    }
    const refused = await post("/v1/tx/buy", BUY, "api_wrong");
    expect(refused.status).toBe(429);
    expect(refused.headers.get("ratelimit")).toBe('"address-auth";r=0;t=6');
    expect(refused.headers.get("retry-after")).toBe("1");
    expect((await refused.json()).error).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", retryable: true });
    expect((await post("/v1/tx/buy", BUY, BOB.key)).status).toBe(429);
    for (let i = 0; i < 20; i++) expect((await post("/v1/tx/buy", BUY)).status).toBe(200);
    nowMs += 1_050;
    expect((await post("/v1/tx/buy", BUY, BOB.key)).status).toBe(200);
  });

  it("are not counted if the key turns out valid", async () => {
    edge = await startEdge({ limits: LIMITED });
    for (let i = 0; i < 30; i++) expect((await post("/v1/tx/buy", BUY, BOB.key)).status).toBe(200);
    edge.limits.takeUsage();
    await post("/v1/tx/buy", BUY, BOB.key);
    expect([...edge.limits.takeUsage()]).toEqual([]);
    await post("/v1/tx/buy", BUY, "api_wrong");
    expect([...edge.limits.takeUsage()]).toEqual([["address-auth 127.0.0.1", 1]]);
  });
});

it("bounds the streams of a key and frees their places however they end", async () => {
  edge = await startEdge({ maxStreamsPerKey: 2 });
  const { trades, port } = edge;
  const { watch } = trades;
  let served = 0;
  trades.watch = async function* (principal, signature, signal) {
    yield* watch(principal, signature, signal);
    served++;
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    served--;
  };
  const { data } = await (await post("/v1/tx/buy", BUY)).json();
  const signed = fakeSign(Buffer.from(data.unsignedTransaction, "base64"));
  const submit = { submissionToken: data.submissionToken, signedTransaction: Buffer.from(signed).toString("base64") };
  const { signature } = (await (await post("/v1/tx/submit", submit)).json()).data;
  const baseUrl = `http://127.0.0.1:${port}`;
  for (const transport of [createConnectTransport({ baseUrl, httpVersion: "1.1" }), createGrpcTransport({ baseUrl })]) {
    const client = createClient(TradeService, transport);
    const open = (key: string) => {
      const leaving = new AbortController();
      const headers = { authorization: `Bearer ${key}` };
      const stream = client.watchTrade({ signature }, { headers, signal: leaving.signal });
      const ended = (async () => {
        for await (const _ of stream);
      })().catch((error) => error);
      return { leave: () => leaving.abort(), ended };
    };
    const streams = [open(ALICE.key), open(ALICE.key)];
    await expect.poll(() => served).toBe(2);
    const refused = await open(ALICE.key).ended;
    expect(refused.code).toBe(Code.ResourceExhausted);
    expect(refused.rawMessage).toContain("has 2 streams open");
    expect(refused.metadata.get("retry-after")).toBe("1");
    // Bob has his own places, and a stream of nothing keeps none.
    for (let i = 0; i < 4; i++) expect((await open(BOB.key).ended).code).toBe(Code.NotFound);
    streams[0]!.leave();
    await streams[0]!.ended;
    await expect.poll(() => served).toBe(1);
    streams.push(open(ALICE.key));
    await expect.poll(() => served).toBe(2);
    for (const { leave, ended } of streams) {
      leave();
      await ended;
    }
    await expect.poll(() => served).toBe(0);
  }
});

it("bounds the streams without a key by address and frees their places when they end", async () => {
  edge = await startEdge({ maxStreamsPerKey: 2, trustedProxies: 1 });
  const baseUrl = `http://127.0.0.1:${edge.port}`;
  for (const [transport, here, there] of [
    [createConnectTransport({ baseUrl, httpVersion: "1.1" }), "192.0.2.1", "192.0.2.2"],
    [createGrpcTransport({ baseUrl }), "192.0.2.3", "192.0.2.4"],
  ] as const) {
    const client = createClient(Health, transport);
    const open = async (from: string) => {
      const leaving = new AbortController();
      const headers = { "x-forwarded-for": from };
      const messages = client.watch({}, { headers, signal: leaving.signal })[Symbol.asyncIterator]();
      const first = await messages.next().catch((error) => error);
      return { leave: () => leaving.abort(), first, ended: () => messages.next().catch(() => {}) };
    };
    const one = await open(here);
    const two = await open(here);
    expect([one.first.value.status, two.first.value.status]).toEqual([Status.SERVING, Status.SERVING]);
    const { first: refused } = await open(here);
    expect(refused.code).toBe(Code.ResourceExhausted);
    expect(refused.rawMessage).toContain("This address has 2 streams open");
    const other = await open(there);
    expect(other.first.value.status).toBe(Status.SERVING);
    one.leave();
    await one.ended();
    await expect.poll(async () => (await open(here)).first.value?.status).toBe(Status.SERVING);
    for (const { leave } of [two, other]) leave();
  }
});

it("treats a /64 network of IPv6 as one address", async () => {
  edge = await startEdge({ limits: { ...OFF, addressOpen: 1 }, trustedProxies: 1 });
  const ask = async (from: string) =>
    (await fetch(`http://127.0.0.1:${edge!.port}/v1/priority`, { headers: { "x-forwarded-for": from } })).status;
  expect(await ask("2001:db8:1:2::1")).toBe(200);
  expect(await ask("2001:db8:1:2:ffff::9")).toBe(429);
  expect(await ask("2001:db8:1:3::1")).toBe(200);
});

it("charges calls of other processes", async () => {
  edge = await startEdge({ limits: { ...OFF, build: 10 } });
  edge.limits.takeUsage();
  await post("/v1/tx/buy", BUY);
  expect([...edge.limits.takeUsage()]).toEqual([[`build id of ${ALICE.key}`, 1]]);
  edge.limits.charge(new Map([[`build id of ${ALICE.key}`, 30]]));
  expect((await post("/v1/tx/buy", BUY)).status).toBe(429);
});

it("refuses builds beyond the limit and still serves submits", async () => {
  edge = await startEdge({ admission: { ...DEFAULT_API_SETTINGS.admission, buildsAtOnce: 0 } });
  const refused = await post("/v1/tx/buy", BUY);
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("1");
  expect((await refused.json()).error.code).toBe("OVERLOADED");
  const submit = await post("/v1/tx/submit", { submissionToken: "token_0", signedTransaction: "AA==" });
  expect((await submit.json()).error.code).toBe("INVALID_SUBMISSION_TOKEN");
  expect(edge.load()).toMatchObject({ builds: 0, submits: 0, shed: 1 });
});

it("refuses pages of other origins unless they are configured", async () => {
  edge = await startEdge({});
  const preflight = (origin: string) =>
    fetch(`http://127.0.0.1:${edge!.port}/v1/tx/buy`, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST" },
    });
  expect((await preflight("https://app.example")).headers.get("access-control-allow-origin")).toBeNull();
  await edge.close();
  edge = await startEdge({ corsOrigins: ["https://app.example"] });
  const allowed = await preflight("https://app.example");
  expect(allowed.status).toBe(204);
  expect(allowed.headers.get("access-control-allow-origin")).toBe("https://app.example");
  expect(allowed.headers.get("access-control-allow-headers")).toContain("authorization");
  expect((await preflight("https://evil.example")).headers.get("access-control-allow-origin")).toBeNull();
  for (const path of ["/v1/tx/buy", "/tradewire.v1.TradeService/Buy"]) {
    const answer = await post(path, BUY, ALICE.key, { origin: "https://app.example" });
    expect(answer.headers.get("access-control-allow-origin")).toBe("https://app.example");
  }
});

it("bounds the number of connections", async () => {
  edge = await startEdge({ maxConnections: 3 });
  const answers = await Promise.allSettled(
    Array.from({ length: 6 }, () => fetch(`http://127.0.0.1:${edge!.port}/v1/ping`)),
  );
  expect(answers.filter(({ status }) => status === "fulfilled").length).toBeGreaterThanOrEqual(3);
  expect(edge.load().connections).toBeLessThanOrEqual(3);
});

const HTTP2_PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/** A raw connection from a loopback address: what it received, or undefined if it was closed. */
async function openFrom(localAddress: string, hello: string) {
  const socket = net.connect({ port: edge!.port, host: "127.0.0.1", localAddress });
  socket.on("error", () => {});
  socket.write(hello, "latin1");
  const answer = await new Promise<string | undefined>((resolve) => {
    socket.once("data", (chunk) => resolve(chunk.toString("latin1")));
    socket.once("close", () => resolve(undefined));
  });
  return { socket, answer };
}

describe.each([
  ["HTTP/1.1", "GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n", (answer: string) => answer.startsWith("HTTP/1.1 200")],
  // A SETTINGS frame: its type follows three bytes of length.
  ["HTTP/2", HTTP2_PREFACE, (answer: string) => answer.charCodeAt(3) === 4],
] as const)("over %s", (_, hello, isGreeting) => {
  it("leaves room for others if one address opens too many connections", async () => {
    edge = await startEdge({ maxConnections: 20, maxConnectionsPerAddress: 5 });
    const greedy = await Promise.all(Array.from({ length: 12 }, () => openFrom("127.0.0.2", hello)));
    const held = greedy.filter(({ answer }) => answer !== undefined);
    expect(held.length).toBe(5);
    for (const { answer } of held) expect(isGreeting(answer!)).toBe(true);
    const other = await openFrom("127.0.0.3", hello);
    expect(isGreeting(other.answer!)).toBe(true);
    expect(edge.load().connections).toBe(6);
    // A closed connection frees its place.
    held[0]!.socket.destroy();
    await expect.poll(() => edge!.load().connections).toBe(5);
    const next = await openFrom("127.0.0.2", hello);
    expect(isGreeting(next.answer!)).toBe(true);
    for (const { socket } of [...greedy, other, next]) socket.destroy();
  });

  it("counts callers that come past the proxies by address", async () => {
    const around = { maxConnectionsPerAddress: 5, trustedProxies: 1, proxyAddresses: ["10.0.0.9"] };
    edge = await startEdge({ maxConnections: 20, ...around });
    const callers = await Promise.all(Array.from({ length: 12 }, () => openFrom("127.0.0.2", hello)));
    expect(callers.filter(({ answer }) => answer !== undefined).length).toBe(5);
    for (const { socket } of callers) socket.destroy();
  });

  it("does not count by address behind a proxy, which all clients share", async () => {
    edge = await startEdge({ maxConnections: 20, maxConnectionsPerAddress: 5, trustedProxies: 1 });
    const callers = await Promise.all(Array.from({ length: 12 }, () => openFrom("127.0.0.2", hello)));
    expect(callers.filter(({ answer }) => answer !== undefined).length).toBe(12);
    for (const { socket } of callers) socket.destroy();
  });
});
