import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import {
  type DescMethodUnary,
  fromBinary,
  fromJson,
  type JsonValue,
  type Message,
  type Registry,
  toBinary,
  toJsonString,
} from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  codeToHttpStatus,
  errorToJsonBytes,
  parseTimeout as parseConnectTimeout,
} from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpcTimeout, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { trailerFlag, trailerSerialize } from "@connectrpc/connect/protocol-grpc-web";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { parseJson } from "../http/parse-json.ts";
import { createJsonDecoder } from "../rest/json-decoder.ts";

/**
 * The everyday form of a unary call on one typed wire: one uncompressed message in, one out. Calls of this form run
 * through the same invoker as REST at a quarter of the cost; whatever is unusual is left to the RPC library.
 */
export interface RpcLane {
  /** Bytes of framing that come on top of the message. */
  readonly overheadBytes: number;
  decode(body: Buffer): Message;
  /** A deadline set by the caller, in milliseconds from now. @throws ConnectError when it cannot be read */
  deadlineMs(headers: IncomingHttpHeaders): number | undefined;
  answer(response: ServerResponse, message: Message, trailer?: Headers): void;
  refuse(response: ServerResponse, error: ConnectError, trailer?: Headers): void;
}

interface RpcLanes {
  /** The lane for a request, or undefined when its form is unusual. */
  select(request: IncomingMessage): RpcLane | undefined;
}

const MAX_TIMEOUT_MS = 300_000;
/** Bytes of flags and length before each message of a stream. */
export const FRAME_HEAD = 5;

/**
 * The lanes of one method.
 *
 * @param registry the types that its messages hold by their name alone; without it, the compiled reader of JSON serves,
 * which knows no such messages
 */
export function createRpcLanes(method: DescMethodUnary, registry?: Registry): RpcLanes {
  const connectJson = createConnectLane("application/json", createConnectJsonForm(method, registry));
  const connectProto = createConnectLane("application/proto", createBinaryForm(method));
  const grpc = createGrpcLane(method);
  const grpcWeb = createGrpcWebLane(method);
  return {
    select({ headers, httpVersionMajor }) {
      const type = headers["content-type"];
      switch (type) {
        case "application/json":
        case "application/json; charset=utf-8":
          return isPlain(headers["content-encoding"]) ? connectJson : undefined;
        case "application/proto":
          return isPlain(headers["content-encoding"]) ? connectProto : undefined;
        case "application/grpc":
        case "application/grpc+proto":
          return httpVersionMajor === 2 && isPlain(headers["grpc-encoding"]) ? grpc : undefined;
        case "application/grpc-web":
        case "application/grpc-web+proto":
          return isPlain(headers["grpc-encoding"]) ? grpcWeb : undefined;
        default:
          return JSON_IN_UTF8.test(type ?? "") && isPlain(headers["content-encoding"]) ? connectJson : undefined;
      }
    },
  };
}

/** The other ways to write that it is JSON. */
const JSON_IN_UTF8 = /^application\/json *; *charset="?utf-8"?$/i;

function isPlain(encoding: string | string[] | undefined): boolean {
  return encoding === undefined || encoding === "identity";
}

interface Form {
  decode(body: Buffer): Message;
  encode(message: Message): Uint8Array;
}

function createBinaryForm(method: DescMethodUnary): Form {
  return {
    decode: (body) => decodeBinary(method, body),
    encode: (message) => toBinary(method.output, message),
  };
}

function createConnectJsonForm(method: DescMethodUnary, registry: Registry | undefined): Form {
  const decode =
    registry === undefined
      ? createJsonDecoder(method.input, "proto")
      : (json: unknown) => fromJson(method.input, json as JsonValue, { registry });
  const options = registry === undefined ? undefined : { registry };
  return {
    decode: (body) => decode(parseJson(body)),
    encode: (message) => Buffer.from(toJsonString(method.output, message, options)),
  };
}

function decodeBinary(method: DescMethodUnary, bytes: Uint8Array): Message {
  try {
    return fromBinary(method.input, bytes);
  } catch {
    throw new TradewireError("VALIDATION_ERROR", `The request is not a ${method.input.typeName} message.`);
  }
}

function createConnectLane(contentType: string, form: Form): RpcLane {
  return {
    overheadBytes: 0,
    decode: form.decode,
    deadlineMs: (headers) => readTimeout(parseConnectTimeout, headers["connect-timeout-ms"]),
    answer(response, message, trailer) {
      const body = form.encode(message);
      setMuxedTrailer(response, trailer);
      end(response, 200, contentType, body);
    },
    refuse(response, error, trailer) {
      for (const [name, value] of error.metadata) response.setHeader(name, value);
      setMuxedTrailer(response, trailer);
      end(response, codeToHttpStatus(error.code), "application/json", errorToJsonBytes(error, undefined));
    },
  };
}

/** Unary answers of Connect carry trailers among their headers. */
function setMuxedTrailer(response: ServerResponse, trailer: Headers | undefined): void {
  for (const [name, value] of trailer ?? []) response.setHeader(`trailer-${name}`, value);
}

function createGrpcLane(method: DescMethodUnary): RpcLane {
  return {
    overheadBytes: FRAME_HEAD,
    decode: (body) => decodeBinary(method, unframe(body)),
    deadlineMs: (headers) => readTimeout(parseGrpcTimeout, headers["grpc-timeout"]),
    answer(response, message, trailer) {
      const trailers = trailer === undefined ? GRPC_OK : { ...Object.fromEntries(trailer), ...GRPC_OK };
      endWithTrailers(response, frame(0, toBinary(method.output, message)), trailers);
    },
    refuse(response, error, trailer) {
      endWithTrailers(response, undefined, Object.fromEntries(failureTrailer(error, trailer)));
    },
  };
}

const GRPC_OK = { "grpc-status": "0" };

function failureTrailer(error: ConnectError, trailer: Headers | undefined): Headers {
  const whole = new Headers(trailer);
  for (const [name, value] of error.metadata) whole.append(name, value);
  return setTrailerStatus(whole, error);
}

/** Only HTTP/2 requests take the gRPC lane, and its responses hold trailers. */
function endWithTrailers(response: ServerResponse, body: Buffer | undefined, trailers: OutgoingHttpHeaders): void {
  const http2 = response as unknown as Http2ServerResponse;
  http2.writeHead(200, { "content-type": "application/grpc+proto" });
  http2.addTrailers(trailers);
  if (body === undefined) http2.end();
  else http2.end(body);
}

function createGrpcWebLane(method: DescMethodUnary): RpcLane {
  const contentType = "application/grpc-web+proto";
  const success = frame(trailerFlag, trailerSerialize(new Headers(GRPC_OK)));
  return {
    overheadBytes: FRAME_HEAD,
    decode: (body) => decodeBinary(method, unframe(body)),
    deadlineMs: (headers) => readTimeout(parseGrpcTimeout, headers["grpc-timeout"]),
    answer(response, message, trailer) {
      const last =
        trailer === undefined
          ? success
          : frame(trailerFlag, trailerSerialize(new Headers([...trailer, ["grpc-status", "0"]])));
      end(response, 200, contentType, Buffer.concat([frame(0, toBinary(method.output, message)), last]));
    },
    refuse(response, error, trailer) {
      end(response, 200, contentType, frame(trailerFlag, trailerSerialize(failureTrailer(error, trailer))));
    },
  };
}

function readTimeout(parse: typeof parseGrpcTimeout, value: string | string[] | undefined): number | undefined {
  if (value === undefined) return undefined;
  const { timeoutMs, error } = parse(String(value), MAX_TIMEOUT_MS);
  if (error !== undefined) throw error;
  return timeoutMs;
}

function end(response: ServerResponse, status: number, contentType: string, body: Uint8Array): void {
  response.writeHead(status, { "content-type": contentType, "content-length": body.length });
  response.end(body);
}

function frame(flags: number, payload: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(FRAME_HEAD + payload.length);
  framed[0] = flags;
  framed.writeUInt32BE(payload.length, 1);
  framed.set(payload, FRAME_HEAD);
  return framed;
}

/**
 * The one message of a unary request.
 *
 * @throws ConnectError unimplemented when there is none or more than one, internal when it is compressed and does not say how
 * @throws TradewireError VALIDATION_ERROR when it is cut short
 */
function unframe(body: Buffer): Uint8Array {
  if (body.length === 0) throw new ConnectError("the request holds no message", Code.Unimplemented);
  const end = body.length < FRAME_HEAD ? Number.POSITIVE_INFINITY : FRAME_HEAD + body.readUInt32BE(1);
  if (end > body.length) {
    throw new TradewireError("VALIDATION_ERROR", "The message of the request is cut short.");
  }
  if (end < body.length) throw new ConnectError("the request holds more than one message", Code.Unimplemented);
  if (body[0] !== 0) throw new ConnectError("the message is compressed, and no header says how", Code.Internal);
  return body.subarray(FRAME_HEAD);
}
