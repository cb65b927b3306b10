import type { IncomingMessage } from "node:http";
import { Code, type ConnectError } from "@connectrpc/connect";
import {
  codeToHttpStatus,
  endStreamFlag,
  endStreamToJson,
  errorToJsonBytes,
} from "@connectrpc/connect/protocol-connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { ErrorDetailSchema } from "../../../../gen/tradewire/v1/errors_pb.ts";
import type { TradewireError } from "../../../errors/tradewire-error.ts";
import { refusalOfRequest, toConnectError } from "../../call/failure.ts";
import { httpStatusOf, JSON_TYPE, toEnvelope } from "../../http/envelope.ts";
import { frameHead } from "../frames.ts";
import { trailerFrame } from "../grpc-wires.ts";
import { plainType } from "../wires.ts";

/** What a refusal reads of a request. */
export type Refused = Pick<IncomingMessage, "method" | "url" | "headers" | "httpVersionMajor">;

/** A refusal as the whole response to a request that did not become a call. */
export interface RefusedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** gRPC's status, which follows the headers; undefined on other wires. */
  readonly trailers?: Readonly<Record<string, string>>;
}

/** The part of a response that a protocol prescribes. */
type Form = Pick<RefusedAnswer, "status" | "body" | "trailers"> & { readonly type: string };

/** Paths of methods on the typed wires: `/package.Service/Method`. They tell Connect's calls of one message from REST. */
const TYPED_PATH = /^\/\w+(?:\.\w+)+\/\w+$/;
const OWN_PATHS = `/${ErrorDetailSchema.file.proto.package}.`;
const NOTHING = Buffer.alloc(0);

/**
 * The refusal of a request in the form of its protocol, known by its content type: to a client of a typed wire the envelope is an
 * unknown error.
 *
 * @param request undefined if nothing of it could be read
 * @param status that the protocols prescribe for a request in none of their forms; it has the envelope
 */
export function answerRefused(
  request: Refused | undefined,
  refusal: TradewireError,
  requestId: string,
  status?: number,
): RefusedAnswer {
  const failure = request === undefined ? refusal : refusalOfRequest(request, refusal);
  const form = status === undefined ? typedForm(request, failure, requestId) : undefined;
  const { type, ...rest } = form ?? {
    status: status ?? httpStatusOf(failure),
    type: JSON_TYPE,
    body: Buffer.from(toEnvelope(failure, requestId)),
  };
  const keep = form === undefined ? { "cache-control": "no-store" } : {};
  const { retryAfterMs } = failure.facts;
  const wait = retryAfterMs === undefined ? {} : { "retry-after": `${Math.ceil(retryAfterMs / 1_000)}` };
  return { ...rest, headers: { ...keep, "content-type": type, ...wait, "x-request-id": requestId } };
}

/** The refusal on a typed wire; undefined if the request is of none. */
function typedForm(request: Refused | undefined, failure: TradewireError, requestId: string): Form | undefined {
  if (request?.method !== "POST") return undefined;
  const type = plainType(request.headers["content-type"]);
  const write = FORMS.get(type);
  // gRPC needs the trailers of HTTP/2.
  if (write === undefined || (write === grpc && request.httpVersionMajor !== 2)) return undefined;
  if (write === connect && !TYPED_PATH.test(request.url!.split("?", 1)[0]!)) return undefined;
  // The protocols' refusal of a path that names no method.
  const code = failure.code === "NOT_FOUND" ? Code.Unimplemented : undefined;
  return write(toConnectError(failure, requestId, request.url!.startsWith(OWN_PATHS), code), type);
}

const grpc = (error: ConnectError, type: string): Form => ({
  status: 200,
  type,
  body: NOTHING,
  trailers: Object.fromEntries(statusOf(error)),
});

const grpcWeb = (error: ConnectError, type: string): Form => ({
  status: 200,
  type,
  body: Buffer.from(trailerFrame(statusOf(error)), "latin1"),
});

const connect = (error: ConnectError): Form => ({
  // Before any call, only a path that names no method is unimplemented: Connect prescribes 404 for that.
  status: error.code === Code.Unimplemented ? 404 : codeToHttpStatus(error.code),
  type: "application/json",
  body: Buffer.from(errorToJsonBytes(error, undefined)),
});

function connectStream(error: ConnectError, type: string): Form {
  const text = Buffer.from(JSON.stringify(endStreamToJson(new Headers(), error, undefined)));
  return {
    status: 200,
    type,
    body: Buffer.concat([Buffer.from(frameHead(endStreamFlag, text.length), "latin1"), text]),
  };
}

const statusOf = (error: ConnectError): Headers => setTrailerStatus(new Headers(error.metadata), error);

/** By content type. A map: the types of requests include names that every object has. */
const FORMS: ReadonlyMap<string, (error: ConnectError, type: string) => Form> = new Map([
  ["application/json", connect],
  ["application/proto", connect],
  ["application/connect+json", connectStream],
  ["application/connect+proto", connectStream],
  ["application/grpc", grpc],
  ["application/grpc+proto", grpc],
  ["application/grpc+json", grpc],
  ["application/grpc-web", grpcWeb],
  ["application/grpc-web+proto", grpcWeb],
  ["application/grpc-web+json", grpcWeb],
]);
