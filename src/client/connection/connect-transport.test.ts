import http from "node:http";
import type { AddressInfo } from "node:net";
import type { DescMethodServerStreaming, DescMethodUnary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TradeService } from "../../../gen/tradewire/v1/trade_pb.ts";
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
