import http from "node:http";
import http2 from "node:http2";
import { gzipSync } from "node:zlib";
import { type DescMethod, type DescMethodUnary, fromBinary, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { ErrorDetailSchema } from "../../../gen/tradewire/v1/errors_pb.ts";
import { TradeService } from "../../../gen/tradewire/v1/trade_pb.ts";
import { createJsonEncoder } from "../../../src/api/rest/json-encoder.ts";
import { restBindingOf } from "../../../src/api/rest/rest-binding.ts";
import { writtenText } from "../written-text.ts";

/** What a caller learns from an answer, on every wire the same. */
export type Answer =
  | { readonly value: unknown }
  | {
      readonly code: string;
      readonly message: string;
      readonly field: string | undefined;
      readonly violations: readonly { readonly field: string; readonly message: string }[];
      readonly retryable: boolean;
      readonly safeToRebuild: boolean | undefined;
      readonly status: string;
    }
  /** Without a code of ours. */
  | { readonly bare: string };

/** What a way carries: JSON of REST, JSON as protobuf maps it, or the binary form. */
export type Form = "rest" | "json" | "binary";

/** One way for a request through the service. */
export interface Way {
  readonly name: string;
  readonly form: Form;
  /** The one method that has this way; undefined if all have it. */
  readonly only?: DescMethodUnary;
  send(method: DescMethodUnary, body: Buffer): Promise<Answer>;
}

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly trailers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

type Headers = Readonly<Record<string, string>>;
type Send = (path: string, headers: Headers, body: Buffer) => Promise<Reply>;

const REQUESTS_OF_A_CONNECTION = 20;

/** Every way to one service. */
interface Ways {
  readonly ways: readonly Way[];
  /** How many requests were sent over HTTP/1.1. */
  sentOverHttp1(): number;
  close(): void;
}

export function openWays(baseUrl: string, key: string): Ways {
  const agents: http.Agent[] = [];
  let sent = 0;
  const authorization = `Bearer ${key}`;
  const session = http2.connect(baseUrl);
  session.on("error", () => {});
  /** One connection after another: the third request in plain form and all after it are read from their bytes, up to one that is not. */
  const kept = (): Send => {
    let agent: http.Agent | undefined;
    let left = 0;
    return (path, headers, body) => {
      if (agent === undefined || left-- === 0) {
        agent?.destroy();
        agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
        agents.push(agent);
        left = REQUESTS_OF_A_CONNECTION;
      }
      sent++;
      return overHttp1(baseUrl, agent, path, { authorization, ...headers }, body);
    };
  };
  const streams: Send = (path, headers, body) => overHttp2(session, path, { authorization, ...headers }, body);
  /** The HTTP server has to read it. */
  const BY_SERVER = { te: "trailers" };
  /** The router has to. */
  const BY_ROUTER = { origin: "https://elsewhere.example" };
  const ways = [
    rest("REST", kept(), {}),
    rest("REST by the server", kept(), { ...BY_SERVER, "content-type": "application/json; charset=utf-8" }),
    rest("REST by the router", kept(), BY_ROUTER),
    rest("REST, any type of JSON", kept(), { "content-type": "Application/JSON ;x=y" }),
    rest("REST over HTTP/2", streams, {}),
    connect("json", "Connect JSON", kept(), {}),
    connect("json", "Connect JSON by the server", kept(), BY_SERVER),
    connect("json", "Connect JSON by the router", kept(), BY_ROUTER),
    connect("json", "Connect JSON over HTTP/2", streams, {}),
    connect("json", "Connect JSON in gzip", kept(), { "content-encoding": "gzip" }),
    connect("json", "Connect JSON in UTF8", kept(), { "content-type": "application/json; charset=utf8" }),
    connect("json", "Connect JSON in capitals", kept(), { "content-type": "Application/JSON" }),
    web("json", "gRPC-Web JSON", kept(), "application/grpc-web+json"),
    grpc("json", "gRPC JSON", streams, "application/grpc+json"),
    connect("binary", "Connect", kept(), {}),
    connect("binary", "Connect by the router", kept(), BY_ROUTER),
    connect("binary", "Connect in capitals", kept(), { "content-type": "Application/Proto" }),
    connect("binary", "Connect over HTTP/2", streams, {}),
    web("binary", "gRPC-Web", kept(), "application/grpc-web+proto"),
    web("binary", "gRPC-Web in capitals", kept(), "Application/gRPC-Web+Proto"),
    grpc("binary", "gRPC", streams, "application/grpc"),
    grpc("binary", "gRPC in capitals", streams, "application/gRPC+Proto"),
    streamed("json", session, authorization),
    streamed("binary", session, authorization),
  ];
  return {
    ways,
    sentOverHttp1: () => sent,
    close() {
      for (const agent of agents) agent.destroy();
      session.destroy();
    },
  };
}

function rest(name: string, send: Send, headers: Headers): Way {
  return {
    name,
    form: "rest",
    async send(method, body) {
      const path = restBindingOf(method)!.path;
      const { status, body: text } = await send(path, { "content-type": "application/json", ...headers }, body);
      const envelope = JSON.parse(text.toString());
      if (envelope.success === true) return { value: envelope.data };
      const { code, message, field, violations = [], retryable, safeToRebuild } = envelope.error;
      const listed = violations.length === 0 && field !== undefined ? [{ field, message }] : violations;
      return { code, message, field, violations: listed, retryable, safeToRebuild, status: `HTTP ${status}` };
    },
  };
}

function connect(form: "json" | "binary", name: string, send: Send, headers: Headers): Way {
  const type = form === "json" ? "application/json" : "application/proto";
  return {
    name,
    form,
    async send(method, body) {
      const sent = headers["content-encoding"] === "gzip" && body.length > 0 ? gzipSync(body) : body;
      const reply = await send(pathOf(method), { "content-type": type, ...headers }, sent);
      if (reply.status === 200) {
        if (form === "binary") return answerIn(method, reply.body);
        return { value: inRest(method, fromJson(method.output, JSON.parse(reply.body.toString()) as JsonValue)) };
      }
      const error = JSON.parse(reply.body.toString());
      const detail = error.details?.[0]?.value;
      if (detail === undefined) return { bare: `${reply.status} ${JSON.stringify(error)}` };
      return refusalOf(Buffer.from(detail, "base64"), error.message, `Connect ${error.code}`);
    },
  };
}

function web(form: "json" | "binary", name: string, send: Send, type: string): Way {
  return {
    name,
    form,
    async send(method, body) {
      const { body: frames } = await send(pathOf(method), { "content-type": type }, framed(body));
      const trailer: Record<string, string> = {};
      let message: Buffer | undefined;
      for (let at = 0; at < frames.length; ) {
        const end = at + 5 + frames.readUInt32BE(at + 1);
        const payload = frames.subarray(at + 5, end);
        if (frames[at]! < 0x80) message = payload;
        else {
          for (const line of payload.toString("latin1").split("\r\n")) {
            const colon = line.indexOf(":");
            if (colon > 0) trailer[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
          }
        }
        at = end;
      }
      return fromTrailer(method, form, trailer, message);
    },
  };
}

function grpc(form: "json" | "binary", name: string, send: Send, type: string): Way {
  return {
    name,
    form,
    async send(method, body) {
      const reply = await send(pathOf(method), { "content-type": type, te: "trailers" }, framed(body));
      const message = reply.body.length === 0 ? undefined : reply.body.subarray(5);
      return fromTrailer(method, form, { ...reply.headers, ...reply.trailers }, message);
    },
  };
}

/** The first of the answers to a quote that is watched: the RPC library serves streams. */
function streamed(form: "json" | "binary", session: http2.ClientHttp2Session, authorization: string): Way {
  const { quote } = TradeService.method;
  const type = `application/connect+${form === "json" ? "json" : "proto"}`;
  return {
    name: `a stream over Connect in ${form}`,
    form,
    only: quote,
    async send(method, body) {
      const path = pathOf(TradeService.method.watchQuote);
      const headers = { ":method": "POST", ":path": path, "content-type": type, authorization };
      const { end, payload } = await firstFrame(session.request(headers), framed(body));
      if (!end && form === "binary") return answerIn(method, payload);
      const read = JSON.parse(payload.toString());
      if (!end) return { value: inRest(method, fromJson(method.output, read)) };
      const detail = read.error?.details?.[0]?.value;
      if (detail === undefined) return { bare: payload.toString() };
      return refusalOf(Buffer.from(detail, "base64"), read.error.message, `Connect ${read.error.code}`);
    },
  };
}

/** The first frame of a streamed response, whose stream is then cancelled. */
function firstFrame(
  stream: http2.ClientHttp2Stream,
  body: Buffer,
): Promise<{ readonly end: boolean; readonly payload: Buffer }> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    stream.on("data", (piece: Buffer) => {
      received = Buffer.concat([received, piece]);
      if (received.length < 5 || received.length < 5 + received.readUInt32BE(1)) return;
      stream.close(http2.constants.NGHTTP2_CANCEL);
      resolve({ end: (received[0]! & 2) !== 0, payload: received.subarray(5, 5 + received.readUInt32BE(1)) });
    });
    stream.on("error", reject);
    stream.on("end", () => reject(new Error("a stream without a frame")));
    stream.end(body);
  });
}

function fromTrailer(
  method: DescMethodUnary,
  form: "json" | "binary",
  trailer: Readonly<Record<string, unknown>>,
  message: Buffer | undefined,
): Answer {
  const status = trailer["grpc-status"];
  if (status === "0") {
    if (form === "binary") return answerIn(method, message!);
    return { value: inRest(method, fromJson(method.output, JSON.parse(message!.toString()) as JsonValue)) };
  }
  const details = trailer["grpc-status-details-bin"];
  const text = decodeURIComponent(String(trailer["grpc-message"] ?? ""));
  if (typeof details !== "string") return { bare: `${status} ${text}` };
  const packed = Buffer.from(details, "base64");
  // A google.rpc.Status: its third field holds an Any whose second field is the detail.
  const any = fieldIn(packed, 3);
  const detail = any && fieldIn(any, 2);
  if (detail === undefined) return { bare: `${status} ${text}` };
  return refusalOf(detail, text, `gRPC ${status}`);
}

/** The last value of a field with a length. */
function fieldIn(bytes: Buffer, number: number): Buffer | undefined {
  let at = 0;
  let found: Buffer | undefined;
  const varint = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const value = varint();
    if ((tag & 7) !== 2) continue;
    if (tag >> 3 === number) found = bytes.subarray(at, at + value);
    at += value;
  }
  return found;
}

/** Codes of gRPC by the names that Connect has for them, as far as they are met. */
const CODE_NAMES: Readonly<Record<string, string>> = {
  "gRPC 3": "invalid_argument",
  "gRPC 5": "not_found",
  "gRPC 6": "already_exists",
  "gRPC 7": "permission_denied",
  "gRPC 8": "resource_exhausted",
  "gRPC 9": "failed_precondition",
  "gRPC 10": "aborted",
  "gRPC 12": "unimplemented",
  "gRPC 13": "internal",
  "gRPC 14": "unavailable",
  "gRPC 16": "unauthenticated",
};

function refusalOf(detail: Buffer, text: string, status: string): Answer {
  const { code, message, field, violations, retryable, safeToRebuild } = fromBinary(ErrorDetailSchema, detail);
  return {
    code,
    message: message === text ? message : `${message} (but: ${text})`,
    field,
    violations: violations.map((violation) => ({ field: violation.field, message: violation.message })),
    retryable,
    safeToRebuild,
    status: CODE_NAMES[status] ?? status.replace("Connect ", ""),
  };
}

const answerIn = (method: DescMethodUnary, bytes: Buffer): Answer => ({
  value: inRest(method, fromBinary(method.output, bytes)),
});
const inRest = (method: DescMethodUnary, message: object): unknown =>
  JSON.parse(writtenText(createJsonEncoder(method.output), message));
const pathOf = (method: DescMethod): string => `/${method.parent.typeName}/${method.name}`;

function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function overHttp1(baseUrl: string, agent: http.Agent, path: string, headers: Headers, body: Buffer): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = { ...headers, "content-length": String(body.length) };
    const request = http.request(baseUrl + path, { method: "POST", agent, headers: sent }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("error", reject);
      response.on("end", () =>
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          trailers: response.trailers,
          body: Buffer.concat(pieces),
        }),
      );
    });
    request.on("error", reject);
    request.end(body);
  });
}

function overHttp2(session: http2.ClientHttp2Session, path: string, headers: Headers, body: Buffer): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":method": "POST", ":path": path, ...headers });
    let head: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader = {};
    let trailers: http2.IncomingHttpHeaders = {};
    const pieces: Buffer[] = [];
    stream.on("response", (received) => {
      head = received;
    });
    stream.on("trailers", (received) => {
      trailers = received;
    });
    stream.on("data", (piece: Buffer) => pieces.push(piece));
    stream.on("error", reject);
    stream.on("end", () =>
      resolve({ status: head[":status"] ?? 0, headers: head, trailers, body: Buffer.concat(pieces) }),
    );
    stream.end(body);
  });
}
