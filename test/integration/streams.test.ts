import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { afterEach, describe, expect, it } from "vitest";
import { AccountService } from "../../gen/tradewire/v1/account_pb.ts";
import { ErrorDetailSchema } from "../../gen/tradewire/v1/errors_pb.ts";
import { TradeService } from "../../gen/tradewire/v1/trade_pb.ts";
import { SwapMode } from "../../gen/tradewire/v1/types_pb.ts";
import { type Edge, startEdge } from "../support/edge.ts";
import { ALICE, BOB, TOKEN } from "../support/fake-trades.ts";

let edge: Edge | undefined;
afterEach(async () => {
  await edge?.close();
  edge = undefined;
});

const urlOf = ({ host, port }: Edge) => `http://${host}:${port}`;
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const ASK = { inputMint: "SOL", outputMint: TOKEN.toString(), amount: 1, slippage: 0.01 };
const PATH = `/v1/quotes/stream?${new URLSearchParams({ ...ASK, amount: "1", slippage: "0.01", swapMode: "exactIn" })}`;

/** Opens a stream of prices; resolves with its first event. `rest` is all that follows, once it has ended. */
async function openEvents(service: Edge, key: string) {
  const response = await fetch(urlOf(service) + PATH, { headers: bearer(key) });
  if (response.status !== 200) return { response, failure: (await response.json()).error };
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const first = (await reader.read()).value!;
  const rest = (async () => {
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text;
      text += value;
    }
  })();
  return { response, first, rest };
}

const transports = (baseUrl: string) => [
  createConnectTransport({ baseUrl, httpVersion: "1.1" }),
  createGrpcTransport({ baseUrl }),
  createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
];

/** Opens the typed stream on every wire. Each resolves with how it ended; `begun` once every first price is there. */
function openTyped(service: Edge, key: string) {
  const begun: Promise<void>[] = [];
  const ends = transports(urlOf(service)).map((transport) => {
    const client = createClient(TradeService, transport);
    const first = Promise.withResolvers<void>();
    begun.push(first.promise);
    return (async () => {
      try {
        for await (const _ of client.watchQuote({ ...ASK, swapMode: SwapMode.EXACT_IN }, { headers: bearer(key) }))
          first.resolve();
        return "ended";
      } catch (error) {
        first.resolve();
        const failure = ConnectError.from(error);
        return `${Code[failure.code]} ${failure.findDetails(ErrorDetailSchema)[0]?.code}`;
      }
    })();
  });
  return { begun: Promise.all(begun), ends: Promise.all(ends) };
}

/** Opens the typed stream in Connect's JSON with a deadline. `until`: milliseconds after which the client is gone. */
async function openUntil(service: Edge, deadlineMs: number, until: number): Promise<string> {
  const ask = Buffer.from(JSON.stringify({ ...ASK, swapMode: "SWAP_MODE_EXACT_IN" }));
  const body = Buffer.concat([Buffer.from([0, 0, 0, 0, ask.length]), ask]);
  const headers = { ...bearer(ALICE.key), "content-type": "application/connect+json" };
  const response = await fetch(`${urlOf(service)}/tradewire.v1.TradeService/WatchQuote`, {
    method: "POST",
    headers: { ...headers, "connect-timeout-ms": String(deadlineMs) },
    body,
    signal: AbortSignal.timeout(until),
  });
  const text = await response.text().catch(() => "open until the client left");
  return text.slice(Math.max(0, text.lastIndexOf('{"error"')));
}

/** Sends bytes as the message of the typed stream. @returns the text of the whole response */
async function sendMessage(service: Edge, type: string, message: Buffer): Promise<string> {
  const response = await fetch(`${urlOf(service)}/tradewire.v1.TradeService/WatchQuote`, {
    method: "POST",
    headers: { ...bearer(ALICE.key), "content-type": type },
    body: Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message]),
  });
  return response.text();
}

describe("a stream of prices", () => {
  it.each([
    [
      "cut short",
      "proto",
      Buffer.of(0x0a, 5, 0x41),
      /^The request is not a valid tradewire\.v1\.QuoteRequest message\.$/,
    ],
    ["a text that is none", "proto", Buffer.of(0x0a, 1, 0xff), /^The request is not a valid .* message\.$/],
    ["no JSON", "json", Buffer.from("{"), /^The request body is not valid JSON\.$/],
    [
      "an unknown field",
      "json",
      Buffer.from('{"inputMnt":"SOL"}'),
      /^inputMnt is not a field of this request\. Did you mean "inputMint"\? /,
    ],
    ["a field of another type", "json", Buffer.from('{"amount":true}'), /^amount must be a number\.$/],
  ])("refuses a message that cannot be read as its sender's fault: %s", async (_, form, message, words) => {
    edge = await startEdge();
    const text = await sendMessage(edge, `application/connect+${form}`, message);
    const { error } = JSON.parse(text.slice(text.indexOf("{")));
    expect(error).toMatchObject({ code: "invalid_argument", details: [{ debug: { code: "VALIDATION_ERROR" } }] });
    expect(error.message).toMatch(words);
    expect(await sendMessage(edge, `application/grpc-web+${form}`, message)).toMatch(
      /grpc-status: 3\r\ngrpc-status-details-bin: /,
    );
    expect(edge.errors).toEqual([]);
  });

  it("fails at its client's deadline: nothing has ended that was asked for", async () => {
    edge = await startEdge();
    const error = JSON.parse(await openUntil(edge, 200, 60_000)).error;
    expect(error).toMatchObject({ code: "deadline_exceeded", details: [{ debug: { code: "REQUEST_TIMEOUT" } }] });
    expect(edge.errors).toEqual([]);
  });

  it("has no deadline if that is further ahead than timers go", async () => {
    edge = await startEdge();
    expect(await openUntil(edge, 9_999_999_999, 1_000)).toBe("open until the client left");
  });

  it("is cut, and not ended, when the service stops: the caller opens it again elsewhere", async () => {
    edge = await startEdge();
    const { first, rest } = await openEvents(edge, ALICE.key);
    expect(first).toMatch(/^event: quote\n/);
    const typed = openTyped(edge, ALICE.key);
    await typed.begun;
    await edge.close();
    expect(await rest).toBe("");
    expect(await typed.ends).toEqual(Array(3).fill("Unavailable OVERLOADED"));
    expect(edge.errors).toEqual([]);
    edge = undefined;
  });

  it("ends with its key", async () => {
    edge = await startEdge();
    const { rest } = await openEvents(edge, ALICE.key);
    const other = await openEvents(edge, BOB.key);
    const typed = openTyped(edge, ALICE.key);
    await typed.begun;
    const accounts = createClient(AccountService, createGrpcTransport({ baseUrl: urlOf(edge) }));
    await accounts.revokeKey({ keyId: `id of ${ALICE.key}` }, { headers: bearer(ALICE.key) });
    const [, name, data] = /^event: (\w+)\ndata: (.*)\n\n$/.exec((await rest)!)!;
    expect([name, JSON.parse(data!).error.code]).toEqual(["error", "AUTH_ERROR"]);
    expect(await typed.ends).toEqual(Array(3).fill("Unauthenticated AUTH_ERROR"));
    await edge.close();
    expect(await other.rest).toBe("");
    edge = undefined;
  });

  it("begins with a price or with the reason why there is none", async () => {
    const nowMs = () => 0;
    const { limits } = (await import("../support/api-settings.ts")).DEFAULT_API_SETTINGS;
    for (const limit of [{ build: 1 }, { addressBuild: 1 }]) {
      edge = await startEdge({ limits: { ...limits, ...limit, burstSeconds: 1 } }, nowMs);
      const { first } = await openEvents(edge, ALICE.key);
      expect(first).toMatch(/^event: quote\n/);
      const { response, failure } = await openEvents(edge, ALICE.key);
      expect(response.status).toBe(429);
      expect(failure.code).toBe("RATE_LIMIT_EXCEEDED");
      expect(response.headers.get("retry-after")).toBe("1");
      const typed = openTyped(edge, ALICE.key);
      expect(await typed.ends).toEqual(Array(3).fill("ResourceExhausted RATE_LIMIT_EXCEEDED"));
      await edge.close();
      edge = undefined;
    }
  });
});
