import http2 from "node:http2";
import {
  type DescMethodUnary,
  fromBinary,
  fromJson,
  type JsonObject,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import {
  compressionGzip,
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import grpc from "@grpc/grpc-js";
import { type ErrorDetail, ErrorDetailSchema } from "../../gen/tradewire/v1/errors_pb.ts";
import { createJsonEncoder } from "../../src/api/rest/json-encoder.ts";
import { restBindingOf } from "../../src/api/rest/rest-binding.ts";
import { writtenText } from "./written-text.ts";

/** The outcome of a call in a form that all wires share: the value in REST form, or the error. */
export type Outcome =
  | { readonly value: unknown }
  | {
      readonly code: string;
      readonly field: string | undefined;
      readonly retryable: boolean;
      readonly safeToRebuild: boolean | undefined;
      readonly message: string;
      /** Where the code is explained, by the service; undefined if it says nothing of it. */
      readonly docUrl?: string;
    };

/** A client on one wire. Requests are given in REST form. */
export interface Wire {
  readonly name: string;
  /** True if requests are sent as JSON, which can express what no message can. */
  readonly json: boolean;
  call(method: DescMethodUnary, request: JsonObject, authorization?: string): Promise<Outcome>;
  close(): void;
}

/** Every wire to one service. */
export function createWires(baseUrl: string): Wire[] {
  const gzip = { sendCompression: compressionGzip, compressMinBytes: 0 };
  return [
    createRestWire("REST over HTTP/1.1", baseUrl, fetchHttp1),
    createRestWire("REST over HTTP/2", baseUrl, fetchHttp2),
    createConnectJsonWire(baseUrl),
    typed("Connect JSON", createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false })),
    typed("Connect binary", createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: true })),
    typed("Connect binary over HTTP/2", createConnectTransport({ baseUrl, httpVersion: "2", useBinaryFormat: true })),
    typed("Connect, gzipped", createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: true, ...gzip })),
    typed("gRPC-Web", createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })),
    typed("gRPC-Web, gzipped", createGrpcWebTransport({ baseUrl, httpVersion: "1.1", ...gzip })),
    typed("gRPC", createGrpcTransport({ baseUrl })),
    typed("gRPC with a deadline", createGrpcTransport({ baseUrl, defaultTimeoutMs: 10_000 })),
    typed("gRPC, gzipped", createGrpcTransport({ baseUrl, ...gzip })),
    createGrpcJsWire(baseUrl),
  ];
}

interface RawAnswer {
  readonly status: number;
  readonly body: string;
}

type Fetch = (
  url: string,
  verb: string,
  headers: Record<string, string>,
  body: string | undefined,
) => Promise<RawAnswer>;

const fetchHttp1: Fetch = async (url, verb, headers, body) => {
  const response = await fetch(url, { method: verb, headers, ...(body === undefined ? {} : { body }) });
  return { status: response.status, body: await response.text() };
};

/** One request on an HTTP/2 connection of its own, by prior knowledge. */
export const fetchHttp2: Fetch = (url, verb, headers, body) =>
  new Promise((resolve, reject) => {
    const { origin, pathname } = new URL(url);
    const session = http2.connect(origin);
    session.on("error", reject);
    const stream = session.request({ ":method": verb, ":path": pathname, ...headers });
    let status = 0;
    let text = "";
    stream.setEncoding("utf8");
    stream.on("response", (head) => {
      status = head[":status"] ?? 0;
    });
    stream.on("data", (chunk: string) => {
      text += chunk;
    });
    stream.on("end", () => {
      session.close();
      resolve({ status, body: text });
    });
    stream.on("error", reject);
    stream.end(body);
  });

function createRestWire(name: string, baseUrl: string, send: Fetch): Wire {
  return {
    name,
    json: true,
    async call(method, request, authorization) {
      const binding = restBindingOf(method)!;
      const path = binding.path.replace(/\{(\w+)\}/g, (_, variable: string) => {
        const field = method.input.fields.find((candidate) => candidate.name === variable)!;
        return encodeURIComponent(String(request[field.jsonName] ?? ""));
      });
      const headers = {
        ...(authorization === undefined ? {} : { authorization }),
        ...(binding.hasBody ? { "content-type": "application/json" } : {}),
      };
      const { status, body } = await send(
        baseUrl + path,
        binding.verb,
        headers,
        binding.hasBody ? JSON.stringify(request) : undefined,
      );
      const envelope = JSON.parse(body);
      if (envelope.success === true && status === 200) return { value: envelope.data };
      const { code, field, retryable, safeToRebuild, message, doc_url: docUrl } = envelope.error;
      return { code, field, retryable, safeToRebuild, message, docUrl };
    },
    close() {},
  };
}

/** Connect, written by hand with JSON alone. */
function createConnectJsonWire(baseUrl: string): Wire {
  return {
    name: "Connect by hand",
    json: true,
    async call(method, request, authorization) {
      const response = await fetch(`${baseUrl}/${method.parent.typeName}/${method.name}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...(authorization === undefined ? {} : { authorization }) },
        body: JSON.stringify(toProtoJson(request)),
      });
      const answer = await response.json();
      if (response.ok) return { value: asRest(method, fromJson(method.output, answer)) };
      const detail = fromBinary(ErrorDetailSchema, Buffer.from(answer.details[0].value, "base64"));
      return refusalOf(detail, answer.message);
    },
    close() {},
  };
}

function typed(name: string, transport: Transport): Wire {
  return {
    name,
    json: false,
    async call(method, request, authorization) {
      const client = createClient(method.parent, transport) as unknown as Record<
        string,
        (message: Message, options: object) => Promise<Message>
      >;
      try {
        const headers = authorization === undefined ? {} : { authorization };
        const message = await client[method.localName]!(toMessage(method, request), { headers });
        return { value: asRest(method, message) };
      } catch (error) {
        return fromConnectError(ConnectError.from(error));
      }
    },
    close() {},
  };
}

function createGrpcJsWire(baseUrl: string): Wire {
  const client = new grpc.Client(new URL(baseUrl).host, grpc.credentials.createInsecure());
  return {
    name: "gRPC by grpc-js",
    json: false,
    call: (method, request, authorization) =>
      new Promise((resolve) => {
        const metadata = new grpc.Metadata();
        if (authorization !== undefined) metadata.set("authorization", authorization);
        client.makeUnaryRequest(
          `/${method.parent.typeName}/${method.name}`,
          (message: Message) => Buffer.from(toBinary(method.input, message)),
          (bytes: Buffer) => fromBinary(method.output, bytes),
          toMessage(method, request),
          metadata,
          (error, message) => {
            if (error === null) resolve({ value: asRest(method, message!) });
            else resolve(fromGrpcError(error));
          },
        );
      }),
    close: () => client.close(),
  };
}

function fromGrpcError(error: grpc.ServiceError): Outcome {
  const details = error.metadata.get("grpc-status-details-bin")[0] as Buffer | undefined;
  const headers = new Headers({ "grpc-status": String(error.code) });
  if (details !== undefined) headers.set("grpc-status-details-bin", details.toString("base64"));
  return fromConnectError(findTrailerError(headers)!);
}

function fromConnectError(error: ConnectError): Outcome {
  const detail = error.findDetails(ErrorDetailSchema)[0];
  if (detail !== undefined) return refusalOf(detail, error.rawMessage);
  return {
    code: Code[error.code],
    field: undefined,
    retryable: false,
    safeToRebuild: undefined,
    message: error.rawMessage,
  };
}

function refusalOf({ code, field, retryable, safeToRebuild, docUrl }: ErrorDetail, message: string): Outcome {
  return { code, field, retryable, safeToRebuild, message, docUrl };
}

function asRest(method: DescMethodUnary, message: Message): unknown {
  return JSON.parse(writtenText(createJsonEncoder(method.output), message));
}

const ENUM_FIELDS: Readonly<Record<string, string>> = { priority: "PRIORITY", swapMode: "SWAP_MODE" };

/** The request as ProtoJSON. */
function toProtoJson(request: JsonObject): JsonObject {
  const json: JsonObject = { ...request };
  for (const [field, prefix] of Object.entries(ENUM_FIELDS)) {
    const value = json[field];
    if (typeof value === "string") json[field] = `${prefix}_${value.replace(/[A-Z]/g, "_$&").toUpperCase()}`;
  }
  return json;
}

/** The request as a message. An unknown level becomes an unknown number; NaN stays NaN. */
function toMessage(method: DescMethodUnary, request: JsonObject): Message {
  const json = toProtoJson(request);
  for (const [field, value] of Object.entries(json)) {
    if (typeof value === "number" && !Number.isFinite(value)) json[field] = String(value);
    if (typeof value === "string" && value.endsWith("_WARP")) json[field] = 99;
  }
  return fromJson(method.input, json);
}
