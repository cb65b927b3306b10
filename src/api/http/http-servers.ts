import http, { type RequestListener } from "node:http";
import http2, {
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from "node:http2";
import type { Socket } from "node:net";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { answerRefused } from "../rpc/forms/refused-request.ts";
import { FRAME_HEAD } from "../rpc/frames.ts";
import type { ApiSettings } from "../settings.ts";
import { isStopped, refuseAndClose } from "./closing/refuse-and-close.ts";
import { refuseLast } from "./closing/refuse-last.ts";
import { takeOffer } from "./closing/upgrade-offer.ts";
import { Framing } from "./flow/framing.ts";
import { countRequest } from "./flow/request-count.ts";
import { MAX_STREAMS } from "./flow/session-flow.ts";
import { MAX_INVALID } from "./opening/session-openings.ts";
import { declaredBytes, endsConnection } from "./read-body.ts";

/**
 * An HTTP/1.1 server with the bounds of the settings.
 *
 * @param requestIds makes ids of refusals
 * @param serving lists connections of calls in flight that look idle to the server
 */
export function createHttp1(
  settings: ApiSettings,
  handler: RequestListener,
  requestIds: () => string,
  serving: () => readonly Socket[],
): http.Server {
  const server = http.createServer(http1Options(settings));
  // A body that is refused for its length is not asked for. A framed message is longer by the head of its frame.
  const mostBytes = settings.bodyLimitBytes + FRAME_HEAD;
  server.on("checkContinue", (request, response) => {
    if (declaredBytes(request) <= mostBytes) response.writeContinue();
    server.emit("request", request, response);
  });
  // Node would refuse unknown expectations, with an empty body too. They are ignored.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  // Without a listener, Node destroys the connection, and requests before this one lose their answers.
  server.on("connect", (_, stream) => refuseTunnel(stream as Socket, requestIds));
  // Node calls this itself when it closes the server.
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => sparing(serving(), closeIdle);
  // An answer to come is still sent to a client that has ended its side.
  Object.assign(server, { httpAllowHalfOpen: true });
  const { maxRequestsPerConnection } = settings;
  server.maxRequestsPerSocket = maxRequestsPerConnection;
  server.on("request", checkedRequests(handler, requestIds, { maxRequestsPerConnection, mostBytes }));
  return server;
}

function http1Options(settings: ApiSettings): http.ServerOptions {
  // Node advertises the timeout and the number of requests, and holds the connection for the buffer on top.
  const hintMs = Math.min(settings.keepAliveHintMs, settings.keepAliveMs);
  return {
    keepAliveTimeout: hintMs,
    keepAliveTimeoutBuffer: settings.keepAliveMs - hintMs,
    // Beyond this bound nothing is known of the request, so it lies above the bound answered with 431.
    maxHeaderSize: 2 * settings.headerLimitBytes,
    // Node refuses a longer one than the whole request has.
    headersTimeout: Math.min(settings.headersTimeoutMs, settings.requestTimeoutMs),
    requestTimeout: settings.requestTimeoutMs,
    connectionsCheckingInterval: settings.timeoutCheckMs,
    noDelay: true,
    // Node's own refusal has an empty body; ours has the envelope.
    requireHostHeader: false,
    // Otherwise the first of several copies wins, and a proxy that uses the last one sees a different request.
    joinDuplicateHeaders: true,
  };
}

/** Answers CONNECT as the last request of its connection. */
function refuseTunnel(socket: Socket, requestIds: () => string): void {
  // Node has given the parser back: it reads another connection by now.
  socket.removeAllListeners("data").on("error", () => socket.destroy());
  refuseLast(socket, noTunnel(), requestIds(), `Allow: ${METHODS}\r\n`);
}

/** Hands on the requests of HTTP/1.1 whose framing is sound, and ends a connection behind the last one that it may send. */
function checkedRequests(
  handler: RequestListener,
  requestIds: () => string,
  { maxRequestsPerConnection, mostBytes }: { readonly maxRequestsPerConnection: number; readonly mostBytes: number },
): RequestListener {
  const framing = new Framing();
  return (request, response) => {
    const { socket } = request;
    // In case the parser hands over more than it should: a request after one that ends its connection may be a part of it.
    if (isStopped(socket)) {
      // Nor is more of what was read handed to it.
      socket.pause();
      return;
    }
    const problem = framing.problemOf(request);
    if (problem !== undefined) {
      refuseAndClose(socket, response, problem, requestIds());
      return;
    }
    if (request.headers.upgrade !== undefined) takeOffer(request, response);
    const count = countRequest(socket);
    // Ends the timeout for the first request; from here on the keep-alive timeout applies.
    if (count === 1) socket.setTimeout(0);
    // Node's own limit would answer the next request with 503 and leave the socket open.
    if (count >= maxRequestsPerConnection || endsConnection(request, mostBytes)) response.shouldKeepAlive = false;
    handler(request, response);
  };
}

const METHODS = "GET, HEAD, POST, DELETE";

const noTunnel = () =>
  new TradewireError("METHOD_NOT_ALLOWED", `The service is no proxy. It accepts ${METHODS}, not CONNECT.`);

/** What Node's HTTP server keeps on a socket while a response is not finished; internal to Node. */
interface Answering {
  _httpMessage?: { readonly finished: boolean } | null;
}

/** Runs what closes idle connections, which passes over those whose response is not finished, without closing these. */
function sparing(sockets: readonly Socket[], closeIdle: () => void): void {
  const spared = (sockets as readonly Answering[]).filter(({ _httpMessage }) => _httpMessage == null);
  for (const socket of spared) socket._httpMessage = { finished: false };
  closeIdle();
  for (const socket of spared) socket._httpMessage = null;
}

/**
 * An HTTP/2 server with the bounds of the settings.
 *
 * @param requestIds makes ids of refusals
 * @param sessions holds the open sessions
 * @param isClosing if true, every session closes after its current streams
 * @param isServing true while streams of a session are open
 */
export function createHttp2(
  settings: ApiSettings,
  handler: RequestListener,
  requestIds: () => string,
  sessions: Set<ServerHttp2Session>,
  isClosing: () => boolean,
  isServing: (session: ServerHttp2Session) => boolean,
): Http2Server {
  const server = http2.createServer(
    {
      // Beyond this bound the protocol resets the stream without a response, so it lies above the bound answered with 431.
      settings: { maxHeaderListSize: 4 * settings.headerLimitBytes, maxConcurrentStreams: MAX_STREAMS },
      // Bounds clients that open streams only to reset them: a burst, then this many a second.
      streamResetBurst: 4 * MAX_STREAMS,
      streamResetRate: 50,
      maxSessionRejectedStreams: MAX_STREAMS,
      maxSessionInvalidFrames: MAX_INVALID,
      maxSessionMemory: 4,
      // Skips the check for duplicate headers: no response sets a header twice.
      strictSingleValueFields: false,
    },
    // Fastify reads what both protocols have in common.
    handler as unknown as Parameters<typeof http2.createServer>[1],
  );
  // As on HTTP/1.1: unknown expectations are ignored, and refusals have the envelope. Node's own have empty bodies.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  server.on("connect", (_: Http2ServerRequest, response: Http2ServerResponse) => {
    const { status, headers, body } = answerRefused(undefined, noTunnel(), requestIds());
    response.writeHead(status, { allow: METHODS, ...headers });
    response.end(body);
  });
  server.on("session", (session) => {
    sessions.add(session);
    let served = 0;
    session.on("stream", () => {
      served++;
      // After the turn: GOAWAY refuses the streams behind this one that came with it.
      if (served >= settings.maxRequestsPerConnection || isClosing()) setImmediate(() => session.close());
    });
    session.setTimeout(settings.keepAliveMs, () => {
      if (!isServing(session)) session.close();
    });
    session.once("close", () => sessions.delete(session));
  });
  // A broken session concerns only its client.
  server.on("sessionError", () => {});
  return server;
}
