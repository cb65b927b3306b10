import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { DescMethodUnary, DescService, Registry } from "@bufbuild/protobuf";
import { Code, ConnectError, createConnectRouter, type ServiceImpl } from "@connectrpc/connect";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { fastify as createFastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { Health } from "../../gen/grpc/health/v1/health_pb.ts";
import { AccountService } from "../../gen/tradewire/v1/account_pb.ts";
import { file_tradewire_v1_errors } from "../../gen/tradewire/v1/errors_pb.ts";
import { TradeService } from "../../gen/tradewire/v1/trade_pb.ts";
import type { Accounts, KeyDirectory } from "../accounts/port.ts";
import { invalidField, TradewireError } from "../errors/tradewire-error.ts";
import type { Trades } from "../trade/trade.ts";
import { Admission } from "./call/admission.ts";
import type { CallObserver } from "./call/call-record.ts";
import { monotonicMs } from "./call/call-state.ts";
import { failureOf, httpStatusOf, toEnvelope } from "./call/failure.ts";
import { Gate } from "./call/gate.ts";
import { createInvoker, type UnaryImplementation } from "./call/invoker.ts";
import { RateLimits } from "./call/rate-limits.ts";
import { StreamPlaces } from "./call/stream-places.ts";
import { warmValidation } from "./call/validation.ts";
import { registerCors } from "./http/cors.ts";
import { KnownPaths } from "./http/known-paths.ts";
import { createListener, type Listener } from "./http/listener.ts";
import { createRequestIds } from "./http/request-id.ts";
import { readOpenApi } from "./openapi/read.ts";
import { routeDirectly } from "./rest/direct-routes.ts";
import { createRestRoutes, type RestRoute, registerRestRoutes, sendFailure } from "./rest/rest-routes.ts";
import { shedBuilds } from "./rest/shed-builds.ts";
import { createGateInterceptor } from "./rpc/gate-interceptor.ts";
import { createHealth } from "./rpc/health.ts";
import { registerReflection } from "./rpc/reflection.ts";
import { registerRpcRoutes } from "./rpc/rpc-routes.ts";
import { createAccountService } from "./services/account-service.ts";
import { createTradeService } from "./services/trade-service.ts";
import type { ApiLogger, ApiSettings } from "./settings.ts";

/** Headers that one request may have. */
const MAX_HEADERS = 64;

/** What the edge stands on. */
interface ApiParts {
  readonly trades: Trades;
  readonly accounts: Accounts;
  readonly keys: KeyDirectory;
  readonly logger: ApiLogger;
  readonly settings: ApiSettings;
  /** What the health service says. */
  readonly serving: () => boolean;
  /** Hears of every call that has ended. */
  readonly observe?: CallObserver;
  /** Services beside the product's own, and the types that their messages hold by their name alone. */
  readonly beside?: { readonly services: ReadonlyMap<DescService, object>; readonly registry: Registry };
}

export interface Api {
  /** The HTTP router, for pages beside the services; also answers requests without a network (`inject`). */
  readonly fastify: FastifyInstance;
  /** Token buckets, for processes that share what was used. */
  readonly limits: RateLimits;
  /** What is under way and what was refused, for metrics. */
  load(): { readonly connections: number; readonly builds: number; readonly submits: number; readonly shed: number };
  listen(): Promise<{ readonly host: string; readonly port: number }>;
  /** Says "not serving" and asks callers to connect elsewhere, while requests are still taken. */
  drain(): void;
  /** Refuses new connections, ends streams, lets calls under way end within the drain time. */
  close(): Promise<void>;
}

/** The edge: every surface of the service on one port, from one set of implementations and one gate before them. */
export async function createApi({
  trades,
  accounts,
  keys,
  logger,
  settings,
  serving,
  observe = () => {},
  beside,
}: ApiParts): Promise<Api> {
  const closing = new AbortController();
  const limits = new RateLimits(settings.limits, monotonicMs);
  const admission = new Admission(settings.admission, monotonicMs);
  let draining = false;
  const requestIds = createRequestIds();
  const gate = new Gate({ keys, logger, limits, admission, observe });
  const services = [TradeService, AccountService, Health, ...(beside?.services.keys() ?? [])];
  const implementations = new Map<DescService, object>([
    [TradeService, createTradeService(trades, closing.signal, new StreamPlaces(settings.maxStreamsPerKey, "API key"))],
    [AccountService, createAccountService(accounts)],
    [Health, createHealth([TradeService, AccountService], () => serving() && !draining)],
    ...(beside?.services ?? []),
  ]);
  const invokerOf = (method: DescMethodUnary) => {
    const implementation = implementations.get(method.parent) as Readonly<Partial<Record<string, UnaryImplementation>>>;
    return createInvoker(implementation[method.localName] ?? unimplemented(method), gate);
  };
  const restRoutes = services.flatMap((service) => createRestRoutes({ settings, requestIds, invokerOf }, service));

  let listener!: Listener;
  const fastify = createFastify({
    logger: false,
    forceCloseConnections: false,
    routerOptions: { maxParamLength: 1024 },
    trustProxy: settings.trustedProxies === 0 ? false : (_, hop) => hop < settings.trustedProxies,
    serverFactory: (handler) => {
      const direct = routeDirectly(handler, { routes: restRoutes, settings, maxHeaders: MAX_HEADERS });
      listener = createListener(settings, shedBuilds(direct, { admission, requestIds, observe }));
      return listener.http1;
    },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, requestIds()),
    frameworkErrors: (error, _, reply) => {
      sendFailure(reply, frameworkFailure(error), requestIds());
    },
  });
  registerCors(fastify, settings.corsOrigins);
  answerEverythingElse(fastify, settings, logger, requestIds);

  warmValidation(services);
  const registry = beside?.registry;
  const router = createConnectRouter({
    interceptors: [createGateInterceptor(gate, new StreamPlaces(settings.maxStreamsPerKey, "address"))],
    acceptCompression: [compressionGzip, compressionBrotli],
    readMaxBytes: settings.bodyLimitBytes,
    shutdownSignal: closing.signal,
    jsonOptions: { ignoreUnknownFields: false, ...(registry === undefined ? {} : { registry }) },
  });
  for (const service of services) {
    router.service(service, implementations.get(service) as Partial<ServiceImpl<DescService>>);
  }
  registerReflection(router, services, [file_tradewire_v1_errors]);

  registerRpcRoutes({ fastify, settings, logger, requestIds, invokerOf, registry }, router);
  registerRestRoutes(fastify, restRoutes);
  refuseMisdirected(fastify, restRoutes);

  fastify.get("/v1/ping", (_, reply) => {
    reply.send();
  });
  let openApi: string | undefined;
  fastify.get("/v1/openapi.json", (_, reply) => {
    openApi ??= readOpenApi(settings.publicUrl());
    reply.header("content-type", "application/json; charset=utf-8").send(openApi);
  });

  const drain = () => {
    draining = true;
    listener.drain();
  };
  return {
    fastify,
    limits,
    load: () => ({ connections: listener.connections(), ...admission.state() }),
    drain,
    async listen() {
      await fastify.ready();
      const { address, port } = await listener.listen(settings.host, settings.port);
      return { host: address, port };
    },
    async close() {
      drain();
      closing.abort(new ConnectError("the service is closing", Code.Unavailable));
      await listener.close(settings.drainMs);
      await fastify.close();
    },
  };
}

/** Answers a method that stands in a definition and is not served here. */
function unimplemented({ name, parent }: DescMethodUnary): UnaryImplementation {
  return () => {
    throw new ConnectError(`${parent.typeName}.${name} is not implemented`, Code.Unimplemented);
  };
}

/** Bodies are read where their wire is known; what no route takes gets the envelope. */
function answerEverythingElse(
  fastify: FastifyInstance,
  settings: ApiSettings,
  logger: ApiLogger,
  requestIds: () => string,
): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser("*", (_, __, done) => done(null));
  fastify.addHook("onRequest", (request, reply, done) => {
    if (request.raw.rawHeaders.length > 2 * MAX_HEADERS) {
      sendFailure(reply, tooManyHeaders(), requestIds());
      return;
    }
    if (request.raw.httpVersion === "1.1" && request.raw.headers.host === undefined) {
      reply.header("connection", "close");
      sendFailure(reply, invalidField("Host", "HTTP/1.1 requests name the Host they are for."), requestIds());
      return;
    }
    // HTTP/1.1 heads are measured while they are read.
    if (request.raw.httpVersionMajor === 2 && headBytes(request.raw) > settings.headerLimitBytes) {
      sendFailure(reply, headersTooLarge(settings.headerLimitBytes), requestIds());
      return;
    }
    done();
  });
  const paths = new KnownPaths();
  fastify.addHook("onRoute", ({ url, method, config }) => {
    if (config !== MISDIRECTED) paths.add(url, [method].flat());
  });
  const refuseUnknown = (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split("?", 1)[0]!;
    const allowed = paths.methodsAt(path, request.method);
    if (allowed.length > 0) reply.header("allow", allowed.join(", "));
    const failure =
      allowed.length === 0
        ? new TradewireError("NOT_FOUND", `There is nothing at ${request.method} ${path}.`)
        : new TradewireError("METHOD_NOT_ALLOWED", `${path} takes ${allowed.join(", ")}, and not ${request.method}.`);
    sendFailure(reply, failure, requestIds());
  };
  fastify.setNotFoundHandler(refuseUnknown);
  fastify.setErrorHandler((error, request, reply) => {
    // What there is nothing for is not read any further: QUERY would have to name a content type first.
    if (request.is404) return refuseUnknown(request, reply);
    const failure = frameworkFailure(error);
    const requestId = requestIds();
    if (failure.code === "INTERNAL_ERROR") logger.error({ err: error, requestId, url: request.url }, "request failed");
    sendFailure(reply, failure, requestId);
  });
}

/** Marks routes that are there to refuse what would go astray. */
const MISDIRECTED = Object.freeze({});

/** A path that is a word of its own is not the variable of another route, as /v1/tx/buy is no signature to GET. */
function refuseMisdirected(fastify: FastifyInstance, routes: readonly RestRoute[]): void {
  const words = new Set(routes.flatMap(({ binding }) => (binding.variables.length === 0 ? [binding.path] : [])));
  for (const { binding } of routes) {
    const pattern = new RegExp(`^${binding.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
    if (binding.variables.length === 0) continue;
    for (const url of words) {
      if (!pattern.test(url) || fastify.hasRoute({ method: binding.verb, url })) continue;
      fastify.route({ method: binding.verb, url, config: MISDIRECTED, handler: (_, reply) => reply.callNotFound() });
    }
  }
}

function headBytes({ rawHeaders }: IncomingMessage): number {
  let bytes = 0;
  // Each header counts 32 bytes beside its text, as HTTP/2 counts header lists: 16 for a name, 16 for a value.
  for (const text of rawHeaders) bytes += text.length + 16;
  return bytes;
}

function tooManyHeaders(): TradewireError {
  return new TradewireError("HEADERS_TOO_LARGE", `The request has more than ${MAX_HEADERS} headers.`);
}

function headersTooLarge(limitBytes: number): TradewireError {
  return new TradewireError("HEADERS_TOO_LARGE", `The request headers are larger than ${limitBytes} bytes.`);
}

/** Refusals of the HTTP library itself: bad URLs, bad media types. */
function frameworkFailure(error: unknown): TradewireError {
  const { statusCode, message } = error as { statusCode?: number; message?: string };
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new TradewireError("VALIDATION_ERROR", message ?? "The request cannot be read.");
  }
  return failureOf(error);
}

/** Answers what is not HTTP, too large a head, or too slow, and closes the connection. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket, requestId: string): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [failure, reason] =
    error.code === "HPE_HEADER_OVERFLOW"
      ? [
          new TradewireError("HEADERS_TOO_LARGE", "The request headers are too large."),
          "Request Header Fields Too Large",
        ]
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? [new TradewireError("REQUEST_TIMEOUT", "The request did not arrive in time."), "Request Timeout"]
        : [new TradewireError("VALIDATION_ERROR", "The request is not valid HTTP."), "Bad Request"];
  const body = toEnvelope(failure, requestId);
  socket.end(
    `HTTP/1.1 ${httpStatusOf(failure)} ${reason}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${requestId}\r\nConnection: close\r\n\r\n${body}`,
  );
}
