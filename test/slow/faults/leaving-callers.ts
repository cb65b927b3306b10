import http2 from "node:http2";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { TradeService } from "../../../gen/tradewire/v1/trade_pb.ts";
import type { BuildEntry } from "./trader.ts";

/** Submits and leaves so long after the call: resets its connection, cancels its stream, or lets its deadline pass. Milliseconds. */
type Leaving = (url: string, apiKey: string, built: BuildEntry, afterMs: number) => Promise<void>;

const SUBMIT_PATH = "/v1/tx/submit";
/** For what is left to reach the server. */
const UNDER_WAY_MS = 20;

const bodyOf = ({ submissionToken, signed }: BuildEntry) =>
  JSON.stringify({ submissionToken, signedTransaction: signed });

/** Over HTTP/1.1; the end of the body is held back if `part` is below 1. */
const leavesHttp1 =
  (part: number, ends: "reset" | "end"): Leaving =>
  async (url, apiKey, built, afterMs) => {
    const { hostname, port } = new URL(url);
    const socket = net.connect(Number(port), hostname).on("error", () => {});
    const body = bodyOf(built);
    const head = `POST ${SUBMIT_PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    socket.setNoDelay(true).resume();
    socket.write(head + body.slice(0, Math.floor(body.length * part)));
    await sleep(afterMs);
    if (ends === "reset") socket.resetAndDestroy();
    else socket.end();
    await sleep(UNDER_WAY_MS);
    socket.destroy();
  };

const leavesHttp2 =
  (ends: "stream" | "connection"): Leaving =>
  async (url, apiKey, built, afterMs) => {
    const session = http2.connect(url).on("error", () => {});
    const head = { ":method": "POST", ":path": SUBMIT_PATH, authorization: `Bearer ${apiKey}` };
    const stream = session.request({ ...head, "content-type": "application/json" }).on("error", () => {});
    stream.resume().end(bodyOf(built));
    await sleep(afterMs);
    if (ends === "stream") stream.close(http2.constants.NGHTTP2_CANCEL);
    else session.destroy();
    await sleep(UNDER_WAY_MS);
    session.destroy();
  };

const leavesTyped =
  (transportOf: (baseUrl: string) => Transport, ends: "abort" | "deadline"): Leaving =>
  async (url, apiKey, { submissionToken, signed }, afterMs) => {
    const caller = new AbortController();
    const request = { submissionToken, signedTransaction: Buffer.from(signed, "base64") };
    const until = ends === "abort" ? { signal: caller.signal } : { timeoutMs: Math.max(1, afterMs) };
    const headers = { authorization: `Bearer ${apiKey}` };
    const calling = createClient(TradeService, transportOf(url)).submit(request, { headers, ...until });
    const answered = calling.then(
      () => {},
      () => {},
    );
    if (ends === "abort") {
      await sleep(afterMs);
      caller.abort();
    }
    await answered;
  };

const connect = (baseUrl: string) => createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: true });
const connectHttp2 = (baseUrl: string) => createConnectTransport({ baseUrl, httpVersion: "2", useBinaryFormat: false });
const grpc = (baseUrl: string) => createGrpcTransport({ baseUrl });
const grpcWeb = (baseUrl: string) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" });

/** Every way to leave, on every wire. */
export const LEAVING_CALLERS: readonly (readonly [name: string, leaves: Leaving])[] = [
  ["HTTP/1.1 reset", leavesHttp1(1, "reset")],
  ["HTTP/1.1 half closed", leavesHttp1(1, "end")],
  ["HTTP/1.1 reset before the end of the body", leavesHttp1(0.9, "reset")],
  ["HTTP/2 stream cancelled", leavesHttp2("stream")],
  ["HTTP/2 connection gone", leavesHttp2("connection")],
  ["Connect aborted", leavesTyped(connect, "abort")],
  ["Connect deadline", leavesTyped(connect, "deadline")],
  ["Connect over HTTP/2 deadline", leavesTyped(connectHttp2, "deadline")],
  ["gRPC aborted", leavesTyped(grpc, "abort")],
  ["gRPC deadline", leavesTyped(grpc, "deadline")],
  ["gRPC-Web aborted", leavesTyped(grpcWeb, "abort")],
  ["gRPC-Web deadline", leavesTyped(grpcWeb, "deadline")],
];
