import type { IncomingMessage } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import type { Socket } from "node:net";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { invalidField, TradewireError } from "../../errors/tradewire-error.ts";
import { asksForPage, UNKNOWN_PAGE_HEADERS, unknownPage } from "../pages/unknown-page.ts";
import { answerRefused } from "../rpc/forms/refused-request.ts";
import type { ApiLogger, ApiSettings } from "../settings.ts";
import { refuseLast } from "./closing/refuse-last.ts";
import { internalError } from "./envelope.ts";
import { KnownPaths } from "./known-paths.ts";
import { endUntouchedBody } from "./read-body.ts";

/** Maximum number of headers of one request. */
const MAX_HEADERS = 64;

/**
 * To the router no body has a type, so it refuses none of them. Routes read the request itself: they refuse what they do not read, after
 * key and limits, as without a router.
 */
const UNTYPED = Object.freeze({ "content-type": undefined });

interface RefusalParts {
  readonly settings: ApiSettings;
  readonly logger: ApiLogger;
  readonly requestIds: () => string;
}

/** Makes the router answer whatever no route serves, and its own errors, with the envelope. Routes read bodies themselves. */
export function registerRefusals(fastify: FastifyInstance, parts: RefusalParts): void {
  const { settings, logger, requestIds } = parts;
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser("*", (_, __, done) => done(null));
  fastify.addHook("onRequest", (request, reply, done) => {
    request.headers = UNTYPED;
    const failure = refusalOfHead(request.raw, settings);
    if (failure === undefined) {
      done();
      return;
    }
    if (request.raw.httpVersionMajor === 1) reply.header("connection", "close");
    sendFailure(reply, failure, requestIds());
  });
  const paths = new KnownPaths();
  fastify.addHook("onRoute", (route) => {
    if (route.config !== MISDIRECTED) paths.add(route);
  });
  const refuseUnknown = (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split("?", 1)[0]!;
    const allowed = paths.methodsAt(path, request.method);
    const meant = paths.meant(path);
    if (allowed.length === 0 && asksForPage(request.raw, path)) {
      return reply.code(404).headers(UNKNOWN_PAGE_HEADERS).send(unknownPage(path, meant));
    }
    if (allowed.length > 0) reply.header("allow", allowed.join(", "));
    return sendFailure(reply, unknownRoute(request.method, path, allowed, meant), requestIds());
  };
  fastify.setNotFoundHandler(refuseUnknown);
  fastify.setErrorHandler((error, request, reply) => {
    // Unknown routes are not read further: without this, QUERY would first have to name a content type.
    if (request.is404) return refuseUnknown(request, reply);
    const failure = frameworkFailure(error);
    const requestId = requestIds();
    if (failure.code === "INTERNAL_ERROR") logger.error({ err: error, requestId, url: request.url }, "request failed");
    sendFailure(reply, failure, requestId);
  });
}

/**
 * Answers a request that never became a call, in its protocol's form.
 *
 * @param prescribed HTTP status of a request in no form of its protocol; it has the envelope
 */
export function sendFailure(
  reply: FastifyReply,
  failure: TradewireError,
  requestId: string,
  prescribed?: number,
): FastifyReply {
  endUntouchedBody(reply.request.raw);
  const { status, headers, body, trailers } = answerRefused(reply.request.raw, failure, requestId, prescribed);
  if (trailers === undefined) return reply.code(status).headers(headers).send(body);
  reply.hijack();
  const response = reply.raw as unknown as Http2ServerResponse;
  response.writeHead(status, headers);
  response.addTrailers(trailers);
  response.end();
  return reply;
}

/** Marks routes that only refuse. */
const MISDIRECTED = Object.freeze({});

/** Refuses these requests as unknown, although a route with a variable would match: GET /v1/tx/buy names no signature. */
export function registerMisdirected(
  fastify: FastifyInstance,
  routes: readonly { readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"; readonly url: string }[],
): void {
  for (const { method, url } of routes) {
    if (fastify.hasRoute({ method, url })) continue;
    fastify.route({ method, url, config: MISDIRECTED, handler: (_, reply) => reply.callNotFound() });
  }
}

/** Why a request is refused by its headers alone; undefined if it is not. */
export function refusalOfHead(request: IncomingMessage, { headerLimitBytes }: ApiSettings): TradewireError | undefined {
  if (request.rawHeaders.length > 2 * MAX_HEADERS) {
    return new TradewireError("HEADERS_TOO_LARGE", `The request has more than ${MAX_HEADERS} headers.`);
  }
  if (request.httpVersion === "1.1" && request.headers.host === undefined) {
    return invalidField("Host", "An HTTP/1.1 request needs a Host header.");
  }
  if (headBytes(request) > headerLimitBytes) {
    return new TradewireError("HEADERS_TOO_LARGE", `The request headers are larger than ${headerLimitBytes} bytes.`);
  }
  return undefined;
}

function headBytes({ httpVersionMajor, url, rawHeaders }: IncomingMessage): number {
  // HTTP/2 counts 32 bytes per header on top of its text: 16 for the name, 16 for the value. There the URL is a header.
  const [first, more] = httpVersionMajor === 2 ? [0, 16] : [url!.length, 0];
  let bytes = first;
  for (const text of rawHeaders) bytes += text.length + more;
  return bytes;
}

function unknownRoute(
  method: string,
  path: string,
  allowed: readonly string[],
  meant: string | undefined,
): TradewireError {
  const hint = meant === undefined ? "" : ` Did you mean ${meant}?`;
  return allowed.length === 0
    ? new TradewireError("NOT_FOUND", `There is nothing at ${method} ${path}.${hint}`)
    : new TradewireError("METHOD_NOT_ALLOWED", `${path} accepts ${allowed.join(", ")}, not ${method}.`);
}

/** The failure behind an error of the HTTP library, such as a bad URL or media type. */
export function frameworkFailure(error: unknown): TradewireError {
  const { code, statusCode, message } = error as { code?: string; statusCode?: number; message?: string };
  switch (code) {
    case "FST_ERR_BAD_URL":
      return new TradewireError(
        "VALIDATION_ERROR",
        "The path has a % that begins no encoded character. Write the character itself as %25.",
      );
    case "FST_ERR_MAX_PARAM_LENGTH":
      return new TradewireError("VALIDATION_ERROR", "A part of the path is longer than any name.");
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new TradewireError("VALIDATION_ERROR", message ?? "The request cannot be read.");
  }
  return error instanceof TradewireError ? error : internalError(error);
}

/**
 * Answers an HTTP/1.1 request that Node could not parse or that arrived too slowly, after the requests before it, and closes the
 * connection.
 */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket, requestId: string): void {
  // The last request has announced that nothing follows: its answer closes the connection.
  if (error.code === "HPE_CLOSED_CONNECTION") socket.pause();
  else if (error.code === "ECONNRESET" || !socket.writable) socket.destroy();
  else refuseLast(socket, brokenRequest(error), requestId);
}

function brokenRequest({ code }: NodeJS.ErrnoException): TradewireError {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return new TradewireError("HEADERS_TOO_LARGE", "The request headers are too large.");
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new TradewireError("REQUEST_TIMEOUT", "The request did not arrive in time.");
    default:
      return new TradewireError("VALIDATION_ERROR", "The request is not valid HTTP.");
  }
}
