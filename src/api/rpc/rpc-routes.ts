import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import type { DescMethod, Registry } from "@bufbuild/protobuf";
import {
  type ConnectError,
  type ConnectRouter,
  type ConnectRouterOptions,
  createContextValues,
} from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import type {
  FastifyInstance,
  onRequestHookHandler,
  preHandlerHookHandler,
  RouteHandlerMethod,
  RouteOptions,
} from "fastify";
import { invalidField, TradewireError } from "../../errors/tradewire-error.ts";
import { type CallState, callStateKey, type StartCall } from "../call/call-state.ts";
import { refusalOfCall } from "../call/failure.ts";
import { isConnected } from "../http/open-response.ts";
import { endUnreadBody, readBody } from "../http/read-body.ts";
import { sendFailure } from "../http/refusals.ts";
import type { ApiLogger, ApiSettings } from "../settings.ts";
import { LIBRARY_CODINGS } from "./coding/inflate.ts";
import type { EverydayCalls } from "./everyday-call.ts";
import { dropFarDeadline } from "./far-deadline.ts";
import { createStreamReader } from "./forms/stream-requests.ts";
import { FRAME_HEAD } from "./frames.ts";

/** What the routes of the typed wires need of the edge. */
interface RpcEdge {
  readonly fastify: FastifyInstance;
  readonly settings: ApiSettings;
  readonly logger: ApiLogger;
  readonly startCall: StartCall;
  /** By path. */
  readonly everydayCalls: ReadonlyMap<string, EverydayCalls>;
  /** Resolves google.protobuf.Any in JSON; undefined if no message contains one. */
  readonly registry: Registry | undefined;
  /** Adds the services to the router of the RPC library. */
  readonly routes: (router: ConnectRouter) => void;
  readonly interceptors: ConnectRouterOptions["interceptors"];
  /** Ends streams when the service closes. */
  readonly closing: AbortSignal;
}

/** The request property that holds the state of a call. */
const CALL_STATE = "callState";

/**
 * Registers every method for Connect, gRPC and gRPC-Web, through the Fastify plugin of the RPC library. Unary calls in
 * everyday form are taken before they reach the plugin.
 */
export function registerRpcRoutes(edge: RpcEdge): void {
  const { fastify, settings, registry } = edge;
  const handlers = new Map<string, UniversalHandler>();
  fastify.register((scope, _, done) => {
    scope.decorateRequest(CALL_STATE, null);
    scope.addHook("onRoute", (route) => prepareRoute(edge, route, handlers.get(route.url)!));
    scope.register(fastifyConnectPlugin, {
      interceptors: edge.interceptors ?? [],
      acceptCompression: LIBRARY_CODINGS,
      readMaxBytes: settings.bodyLimitBytes,
      shutdownSignal: edge.closing,
      jsonOptions: { ignoreUnknownFields: false, ...(registry === undefined ? {} : { registry }) },
      contextValues: (request) => createContextValues().set(callStateKey, request.getDecorator<CallState>(CALL_STATE)),
      routes: (router) => {
        edge.routes(router);
        for (const handler of router.handlers) handlers.set(handler.requestPath, handler);
      },
    });
    done();
  });
}

/** Adds to a route of the plugin what the edge promises for every route. */
function prepareRoute(edge: RpcEdge, route: RouteOptions, handler: UniversalHandler): void {
  const { method, allowedMethods } = handler;
  // The plugin registers every HTTP method. The rest get METHOD_NOT_ALLOWED in the same form as everywhere else.
  route.method = [...allowedMethods] as string[];
  if (method.methodKind === "unary") route.onRequest = takeEverydayCalls(edge.everydayCalls.get(route.url)!);
  route.preHandler = prepareCall(edge, handler);
  route.handler = endBrokenResponses(edge, method, route.handler);
}

/** Serves unary calls in everyday form; all other requests go on to the plugin. */
function takeEverydayCalls(calls: EverydayCalls): onRequestHookHandler {
  return (request, reply, next) => {
    if (!calls.take(request.raw, reply.raw, request.ip, () => reply.hijack())) next();
  };
}

/** Gives a call its state, and a body that is bounded and never breaks the connection. */
function prepareCall(edge: RpcEdge, { method, supportedContentType }: UniversalHandler): preHandlerHookHandler {
  const takesOneMessage = method.methodKind === "unary" || method.methodKind === "server_streaming";
  const readStream =
    method.methodKind === "server_streaming"
      ? createStreamReader(method, edge.registry, edge.settings.bodyLimitBytes)
      : undefined;
  const isSupported = (type: string) => supportedContentType(type) && !WEB_TEXT.test(type);
  return (request, reply, next) => {
    const { headers } = request.raw;
    const state = edge.startCall(request.ip);
    const refuse = (refusal: TradewireError, status?: number) => sendFailure(reply, refusal, state.requestId, status);
    if (!hasHost(request.raw)) {
      refuse(invalidField("Host", "Host does not name a host."));
      return;
    }
    request.setDecorator(CALL_STATE, state);
    endUnreadBody(request.raw, reply.raw);
    if (request.method === "POST" && !isSupported(headers["content-type"] ?? "")) {
      refuse(unsupportedType(method), UNSUPPORTED_MEDIA_TYPE);
      return;
    }
    dropFarDeadline(headers);
    // For responses that the library writes before the gate has seen the call.
    reply.header("x-request-id", state.requestId);
    // The plugin reads a body that is set in place of the request. Its own reader would destroy the connection when it stops early.
    request.body = takesOneMessage
      ? wholeBody(
          request.raw,
          edge.settings,
          readStream?.(headers),
          (error) => refusalOfCall({ method }, error, state.requestId).error,
        )
      : request.raw.iterator({ destroyOnReturn: false });
    next();
  };
}

/** Destroys a response that the plugin could not complete; Fastify would end it as an empty success. */
function endBrokenResponses({ logger }: RpcEdge, { name }: DescMethod, serve: RouteHandlerMethod): RouteHandlerMethod {
  return async function (request, reply) {
    reply.hijack();
    reportAsDisconnect(reply.raw);
    await serve.call(this, request, reply);
    if (reply.raw.writableEnded) return;
    // Anyone may disconnect at any rate, so that is not worth a line.
    if (isConnected(reply.raw)) logger.warn({ method: name }, "call broke off");
    reply.raw.destroy();
  };
}

/**
 * Gives every write error of a response the code ECONNRESET: the client is gone. The plugin is silent on that code and prints
 * other errors to the console, past the log; Node also reports ECANCELED, EPIPE and errors of the HTTP/2 stream.
 *
 * On HTTP/1.1 Node reports nothing to a write that waits for the client to read: the plugin would wait for `drain` forever,
 * and its stream would keep its place. So the end of the connection becomes an error here.
 */
function reportAsDisconnect(response: ServerResponse): void {
  const mark = (error: NodeJS.ErrnoException | null | undefined) => {
    if (error) error.code = "ECONNRESET";
  };
  response.on("error", mark);
  if (response.req.httpVersionMajor === 1) {
    response.once("close", () => {
      if (!response.writableFinished) response.emit("error", new Error("the client disconnected"));
    });
  }
  const write = response.write.bind(response) as (chunk: unknown, encoding: BufferEncoding, done: WriteDone) => boolean;
  response.write = ((chunk: unknown, encoding: BufferEncoding, done: WriteDone) =>
    write(chunk, encoding, (error) => {
      mark(error);
      done(error);
    })) as ServerResponse["write"];
}

type WriteDone = (error: Error | null | undefined) => void;

/** True if the RPC library can make a URL of the request. */
function hasHost(request: IncomingMessage): boolean {
  const authority =
    request.httpVersionMajor === 2 ? (request as unknown as Http2ServerRequest).authority : request.headers.host;
  return authority !== undefined && URL.canParse(`http://${authority}`);
}

const UNSUPPORTED_MEDIA_TYPE = 415;
/** The RPC library knows it and refuses it. */
const WEB_TEXT = /^application\/grpc-web-text/i;

function unsupportedType({ methodKind }: DescMethod): TradewireError {
  const connect =
    methodKind === "unary"
      ? "application/json, application/proto"
      : "application/connect+json, application/connect+proto";
  return invalidField("Content-Type", `Send ${connect}, application/grpc or application/grpc-web.`);
}

/**
 * The body of a request with one message, read whole within the limits.
 *
 * @param read makes what the library is to read of it, if that is not the body as it is
 * @throws what `refusalOf` makes of a refusal
 */
async function* wholeBody(
  request: IncomingMessage,
  settings: ApiSettings,
  read: ((body: Buffer) => Buffer) | undefined,
  refusalOf: (error: unknown) => ConnectError,
): AsyncGenerator<Uint8Array> {
  const limits = { ...settings, overheadBytes: FRAME_HEAD };
  const body = await new Promise<Buffer | TradewireError>((resolve) =>
    readBody(request, limits, { takeBody: resolve }),
  );
  try {
    if (body instanceof TradewireError) throw body;
    yield read === undefined ? body : read(body);
  } catch (error) {
    throw refusalOf(error);
  }
}
