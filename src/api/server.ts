import type { DescMethodServerStreaming, DescMethodUnary, DescService, Registry } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, type ServiceImpl } from "@connectrpc/connect";
import { fastify as createFastify, type FastifyInstance } from "fastify";
import { Health } from "../../gen/grpc/health/v1/health_pb.ts";
import { AccountService } from "../../gen/tradewire/v1/account_pb.ts";
import { file_tradewire_v1_errors } from "../../gen/tradewire/v1/errors_pb.ts";
import { TradeService } from "../../gen/tradewire/v1/trade_pb.ts";
import type { Accounts, KeyDirectory } from "../accounts/port.ts";
import type { Trades } from "../trade/trade.ts";
import { Admission } from "./call/admission.ts";
import type { CallObserver } from "./call/call-record.ts";
import { CallState } from "./call/call-state.ts";
import { STOPPING } from "./call/failure.ts";
import { Gate } from "./call/gate.ts";
import { createInvoker, type Invoker, type UnaryImplementation } from "./call/invoker.ts";
import { RateLimits } from "./call/rate-limits.ts";
import { RefusalPace } from "./call/refusal-pace.ts";
import { StreamPlaces } from "./call/stream-places.ts";
import { warmValidation } from "./call/validation/validation.ts";
import { isClosingRefused } from "./http/closing/refuse-and-close.ts";
import { registerCors } from "./http/cors.ts";
import { JSON_TYPE } from "./http/envelope.ts";
import { isHeldBack } from "./http/flow/pipeline.ts";
import { Listener } from "./http/listener.ts";
import { Proxies } from "./http/proxies.ts";
import { answerBrokenRequest, frameworkFailure, registerRefusals, sendFailure } from "./http/refusals.ts";
import { createRequestIds } from "./http/request-id.ts";
import { NO_SCHEMAS } from "./no-schemas.ts";
import { readOpenApi } from "./openapi/read.ts";
import { Documents } from "./pages/documents.ts";
import { SharedDocument } from "./pages/shared-document.ts";
import { createEventRoutes, type EventRoute, type StreamImplementation } from "./rest/event-route.ts";
import { EverydayListener } from "./rest/everyday-listener.ts";
import { registerRestRoutes } from "./rest/register-rest-routes.ts";
import { createRestRoutes, type RestRoute } from "./rest/rest-route.ts";
import { createEverydayCalls, type EverydayCalls } from "./rpc/everyday-call.ts";
import { createGateInterceptor } from "./rpc/gate-interceptor.ts";
import { createHealth } from "./rpc/health.ts";
import { registerReflection } from "./rpc/reflection.ts";
import { registerRpcRoutes } from "./rpc/rpc-routes.ts";
import { createAccountService } from "./services/account-service.ts";
import { createTradeService } from "./services/trade-service.ts";
import type { ApiLogger, ApiSettings } from "./settings.ts";

/** What the API is built on. */
interface ApiParts {
  readonly trades: Trades;
  readonly accounts: Accounts;
  readonly keys: KeyDirectory;
  readonly logger: ApiLogger;
  readonly settings: ApiSettings;
  /** True while the health service reports SERVING. */
  readonly canBuild: () => boolean;
  /** A monotonic clock: times calls and limits them. Milliseconds. */
  readonly nowMs: () => number;
  /** The wall clock, for the date of answers. Milliseconds since 1970. */
  readonly wallMs: () => number;
  /** Distinguishes this process in request ids. */
  readonly requestIdPrefix: string;
  /** Receives every finished call. */
  readonly observe?: CallObserver;
  /** Services to serve in addition, with the types that their messages contain as google.protobuf.Any. */
  readonly extra?: { readonly services: ReadonlyMap<DescService, object>; readonly registry: Registry };
}

/** Calls in flight and calls refused, for metrics. */
interface Load {
  readonly connections: number;
  readonly streams: number;
  readonly builds: number;
  readonly submits: number;
  readonly shed: number;
}

/** Every surface of the service on one port, from one set of implementations behind one gate. */
export class Api {
  /** The HTTP router, for further pages; also answers requests without a network (`inject`). */
  readonly fastify: FastifyInstance;
  /** Documents and pages, for further ones. */
  readonly documents: Documents;
  /** Token buckets, for processes that share their usage. */
  readonly limits: RateLimits;
  readonly #parts: ApiParts;
  readonly #admission: Admission;
  readonly #gate: Gate;
  readonly #requestIds: () => string;
  readonly #observe: CallObserver;
  readonly #closing = new AbortController();
  readonly #implementations: ReadonlyMap<DescService, object>;
  readonly #restRoutes: readonly RestRoute[];
  readonly #everydayCalls: ReadonlyMap<string, EverydayCalls>;
  readonly #eventRoutes: readonly EventRoute[];
  #listener!: Listener;
  #draining = false;

  constructor(parts: ApiParts) {
    const { settings, keys, logger, nowMs } = parts;
    this.#parts = parts;
    this.#observe = parts.observe ?? (() => {});
    this.limits = new RateLimits(settings.limits, nowMs);
    this.#admission = new Admission(settings.admission, nowMs);
    this.#requestIds = createRequestIds(parts.requestIdPrefix);
    const { limits } = this;
    const admission = this.#admission;
    const refusals = new RefusalPace(nowMs);
    this.#gate = new Gate({ keys, logger, limits, admission, observe: this.#observe, refusals });
    this.#implementations = this.#implement();
    const services = [...this.#implementations.keys()];
    warmValidation(services);
    const { startCall, invokerOf } = this;
    const rest = { settings, startCall, invokerOf };
    this.#restRoutes = services.flatMap((service) => createRestRoutes(rest, service));
    const registry = parts.extra?.registry;
    this.#everydayCalls = createEverydayCalls({ settings, startCall, invokerOf, registry }, services);
    const events = { startCall, gate: this.#gate, streamOf: this.#streamOf };
    this.#eventRoutes = services.flatMap((service) => createEventRoutes(events, service));
    this.fastify = this.#createRouter();
    this.documents = new Documents({ fastify: this.fastify, limits, requestIds: this.#requestIds, settings, logger });
    this.#register();
  }

  #implement(): ReadonlyMap<DescService, object> {
    const { trades, accounts, keys, settings, canBuild, extra } = this.#parts;
    const streams = new StreamPlaces(settings.maxStreamsPerKey, "API key");
    const bounds = { closing: this.#closing.signal, streams, keys, takePrice: this.#takePrice };
    return new Map<DescService, object>([
      [TradeService, createTradeService(trades, bounds)],
      [AccountService, createAccountService(accounts, trades)],
      [Health, createHealth([TradeService, AccountService], { isUp: () => !this.#draining, canBuild })],
      ...(extra?.services ?? []),
    ]);
  }

  readonly startCall = (peer: string): CallState => new CallState(this.#requestIds(), peer, this.#parts.nowMs);

  readonly invokerOf = (method: DescMethodUnary): Invoker => {
    const implementation = this.#implementations.get(method.parent) as Readonly<
      Partial<Record<string, UnaryImplementation>>
    >;
    return createInvoker(implementation[method.localName] ?? unimplemented(method), this.#gate);
  };

  /** Counts a price of a stream like a call, which gives way under load. @throws TradewireError RATE_LIMIT_EXCEEDED, OVERLOADED */
  readonly #takePrice = ({ peer, principal, limit }: CallState): void => {
    if (this.#admission.refusesBuild()) throw this.#admission.refuseBuild();
    this.limits.takeAddress("build", peer, limit);
    this.limits.takeKey("build", principal!, limit);
  };

  readonly #streamOf = ({ parent, localName }: DescMethodServerStreaming): StreamImplementation =>
    (this.#implementations.get(parent) as Readonly<Record<string, StreamImplementation>>)[localName]!;

  #createRouter(): FastifyInstance {
    const { settings, nowMs, wallMs, extra } = this.#parts;
    const requestIds = this.#requestIds;
    const proxies = new Proxies(settings);
    const everyday = new EverydayListener({
      settings,
      admission: this.#admission,
      restRoutes: this.#restRoutes,
      // Further services are served through the router, with whatever was added to it.
      calls: extra === undefined ? this.#everydayCalls : new Map(),
      requestIds,
      observe: this.#observe,
      gate: this.#gate,
      startCall: this.startCall,
      nowMs,
      wallMs,
      isClosing: () => this.#draining,
    });
    return createFastify({
      logger: false,
      schemaController: NO_SCHEMAS,
      forceCloseConnections: false,
      routerOptions: { maxParamLength: 1024 },
      trustProxy: settings.trustedProxies === 0 ? false : (address, place) => proxies.trusts(address, place),
      serverFactory: (router) => {
        const { serving, takeStream } = everyday;
        this.#listener = new Listener(settings, everyday.before(router), nowMs, requestIds, serving, takeStream);
        return this.#listener.http1;
      },
      clientErrorHandler: (error, socket) => {
        if (isClosingRefused(socket)) return;
        if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && isHeldBack(socket)) return;
        answerBrokenRequest(error, socket, requestIds());
      },
      frameworkErrors: (error, _, reply) => {
        sendFailure(reply, frameworkFailure(error), requestIds());
      },
    });
  }

  #register(): void {
    const { fastify } = this;
    const { settings, logger, extra } = this.#parts;
    registerCors(fastify, settings.corsOrigins);
    registerRefusals(fastify, { settings, logger, requestIds: this.#requestIds });
    registerRpcRoutes({
      fastify,
      settings,
      logger,
      startCall: this.startCall,
      everydayCalls: this.#everydayCalls,
      registry: extra?.registry,
      interceptors: [createGateInterceptor(this.#gate, new StreamPlaces(settings.maxStreamsPerKey, "address"))],
      closing: this.#closing.signal,
      routes: (router) => this.#addServices(router),
    });
    registerRestRoutes(fastify, [...this.#restRoutes, ...this.#eventRoutes]);
    fastify.get("/v1/ping", (_, reply) => {
      // Answered from a cache, it would keep no connection open.
      reply.header("cache-control", "no-store").send();
    });
    let openApi: SharedDocument | undefined;
    this.documents.serve("/v1/openapi.json", () => {
      openApi ??= new SharedDocument(Buffer.from(readOpenApi(settings.publicUrl())), {
        "content-type": JSON_TYPE,
        "cache-control": "no-cache",
      });
      return openApi;
    });
  }

  #addServices(router: ConnectRouter): void {
    for (const [service, implementation] of this.#implementations) {
      router.service(service, implementation as Partial<ServiceImpl<DescService>>);
    }
    registerReflection(router, [...this.#implementations.keys()], [file_tradewire_v1_errors]);
  }

  /** What the service is doing now, for metrics. */
  load(): Load {
    return { connections: this.#listener.connections(), streams: this.#listener.streams(), ...this.#admission.state() };
  }

  /** Listens at the host and port of the settings. @throws Error if the port is taken */
  async listen(): Promise<{ readonly host: string; readonly port: number }> {
    await this.fastify.ready();
    const { host, port } = this.#parts.settings;
    const bound = await this.#listener.listen(host, port);
    return { host: bound.address, port: bound.port };
  }

  /** Shows new connections another certificate. @throws Error if it is none, or not the key's */
  renewCertificate(certificate: NonNullable<ApiSettings["tls"]>): void {
    this.#listener.renewCertificate(certificate);
  }

  /** Reports NOT_SERVING and closes connections after their current response, while requests are still served. */
  drain(): void {
    this.#draining = true;
    this.#listener.drain();
  }

  /** Refuses new connections, ends streams, and lets calls in flight end within the drain time. */
  async close(): Promise<void> {
    this.drain();
    this.#closing.abort(STOPPING);
    await this.#listener.close(this.#parts.settings.drainMs);
    await this.fastify.close();
  }
}

/** Refuses a method that is defined but not served. */
function unimplemented({ name, parent }: DescMethodUnary): UnaryImplementation {
  return () => {
    throw new ConnectError(`${parent.typeName}.${name} is not implemented`, Code.Unimplemented);
  };
}
