import { once } from "node:events";
import { constants, createServer, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { expect, test } from "vitest";
import { Tradewire } from "../tradewire.ts";
import { toTradeError } from "./connect-error.ts";

const LOST = { code: "CONNECTION_ERROR", retryable: true };

/** The failure of a call of the library over a transport. */
async function failureOver(transport: Transport): Promise<unknown> {
  const wallet = { publicKey: "11111111111111111111111111111112", signMessageBytes: () => new Uint8Array(64) };
  const client = Tradewire.connect({ baseUrl: "http://service.example", wallet, transport, keepAliveMs: 0 });
  const failure = await client.priorities().catch((error: unknown) => error);
  client.close();
  return failure;
}

test("a connection that is reset is lost over every transport that Node has", async () => {
  const server = createTcpServer((socket) => socket.once("data", () => socket.resetAndDestroy()).on("error", () => {}));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const transport of [
    createGrpcTransport({ baseUrl }),
    createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
    createConnectTransport({ baseUrl, httpVersion: "1.1" }),
    createConnectTransport({ baseUrl, httpVersion: "2" }),
  ]) {
    expect(await failureOver(transport)).toMatchObject(LOST);
  }
  server.close();
});

test("a stream of HTTP/2 that is reset, by a proxy for example, is a lost connection", async () => {
  const codes = [constants.NGHTTP2_INTERNAL_ERROR, constants.NGHTTP2_PROTOCOL_ERROR, constants.NGHTTP2_REFUSED_STREAM];
  const server = createServer();
  server.on("stream", (stream: ServerHttp2Stream) => stream.on("error", () => {}).close(codes.shift()));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  for (const _ of [...codes]) expect(await failureOver(transport)).toMatchObject(LOST);
  server.close();
});

test("a write to a connection that has gone is a lost connection too", () => {
  const cause = Object.assign(new Error("write EPIPE"), { code: "EPIPE", syscall: "write" });
  const gone = ConnectError.from(cause, Code.Internal);
  gone.cause = cause;
  expect(toTradeError(gone)).toMatchObject(LOST);
});

test("what a stranger answers does not change by itself", () => {
  const answered = new ConnectError("HTTP 400", Code.Internal, { "content-type": "text/html" });
  expect(toTradeError(answered)).toMatchObject({ code: "INTERNAL_ERROR", retryable: false });
});

test("a message of the service is cut to what can be read", () => {
  const { message } = toTradeError(new ConnectError("x".repeat(4_000_000), Code.InvalidArgument));
  expect(message).toHaveLength(4_001);
});
