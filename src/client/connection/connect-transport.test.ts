import http from "node:http";
import type { AddressInfo } from "node:net";
import { create, type DescMethodServerStreaming, type DescMethodUnary, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { ListTradesResponseSchema, TradeService } from "../../../gen/tradewire/v1/trade_pb.ts";
import { createBinaryTransport } from "./connect-transport.ts";

/** Begins to refuse each call, and never ends its answer. */
const server = http.createServer((_request, response) => {
  response.writeHead(503, { "content-type": "application/json" });
  response.write("{");
});
beforeAll(() => new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const transport = () => createBinaryTransport(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
const ask = { signature: "" };

function callUnary(method: DescMethodUnary, signal: AbortSignal | undefined, timeoutMs: number | undefined) {
  return transport().unary(method, signal, timeoutMs, undefined, ask);
}

function openStream(method: DescMethodServerStreaming, signal: AbortSignal | undefined, timeoutMs: number | undefined) {
  async function* asks() {
    yield ask;
  }
  return transport().stream(method, signal, timeoutMs, undefined, asks());
}

test.each([
  ["a call", (...limits: [AbortSignal?, number?]) => callUnary(TradeService.method.getTrade, limits[0], limits[1])],
  [
    "a stream",
    (...limits: [AbortSignal?, number?]) => openStream(TradeService.method.watchTrade, limits[0], limits[1]),
  ],
])("%s whose refusal does not end says whether its time-out or its caller ended it", async (_what, begin) => {
  const timedOut = await begin(undefined, 50).catch((error: unknown) => error);
  expect(timedOut).toBeInstanceOf(ConnectError);
  expect((timedOut as ConnectError).code).toBe(Code.DeadlineExceeded);
  const aborted = await begin(AbortSignal.timeout(50)).catch((error: unknown) => error);
  expect((aborted as ConnectError).code).toBe(Code.Canceled);
});

afterEach(() => vi.unstubAllGlobals());

/** What a call for a page of trades ends with, if the service answers with these bytes. */
function listOf(bytes: Uint8Array<ArrayBuffer>) {
  vi.stubGlobal("fetch", async () => new Response(bytes, { headers: { "content-type": "application/proto" } }));
  return transport().unary(TradeService.method.listTrades, undefined, undefined, undefined, {});
}

test("an answer of empty messages is refused before they are made: they would fill the memory and stop the process", async () => {
  const field = TradeService.method.listTrades.output.field.trades!;
  const empty = Uint8Array.of((field.number << 3) | 2, 0);
  const flood = new Uint8Array(1 << 22).map((_, index) => empty[index % 2]!);
  await expect(listOf(flood)).rejects.toMatchObject({
    code: Code.Unknown,
    message: expect.stringContaining("messages"),
  });
});

test("the longest page of trades is read, and what a later version adds is left out", async () => {
  const leg = { venue: "raydium_cpmm", market: "1".repeat(44), inputMint: "1".repeat(44), arrayNumbers: [1, 2, 3] };
  const trade = {
    signature: "1".repeat(88),
    route: Array.from({ length: 12 }, () => leg),
    quoted: {},
    tradeResult: {},
  };
  const page = create(ListTradesResponseSchema, { trades: Array.from({ length: 100 }, () => trade) });
  const later = Uint8Array.of(0xf8, 0x3f, 1);
  const bytes = Uint8Array.from([...toBinary(ListTradesResponseSchema, page), ...later]);
  expect(fromBinary(ListTradesResponseSchema, bytes).$unknown).toHaveLength(1);
  expect((await listOf(bytes)).message).toEqual(page);
});
