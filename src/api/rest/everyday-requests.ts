import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { accessOf } from "../call/access.ts";
import type { LaneRequest, LaneResponse } from "../http/lane/lane-exchange.ts";
import { type OpenedStream, StreamRequest, StreamResponse } from "../http/lane/stream-exchange.ts";
import { refusalOfHead } from "../http/refusals.ts";
import type { EverydayCalls } from "../rpc/everyday-call.ts";
import type { ApiSettings } from "../settings.ts";
import type { BuildShedder } from "./build-shedder.ts";
import type { RestRoute } from "./rest-route.ts";

const NOTHING: Readonly<Record<string, string>> = Object.freeze({});

/** POSTs to paths without variables, by path. */
export type EverydayRoutes = ReadonlyMap<string, { readonly route: RestRoute; readonly isBuild: boolean }>;

/** The routes among these that everyday requests take. */
export function everydayRoutes(routes: readonly RestRoute[]): EverydayRoutes {
  const posts = routes.filter(({ binding: { verb, variables } }) => verb === "POST" && variables.length === 0);
  return new Map(
    posts.map((route) => [route.binding.path, { route, isBuild: accessOf(route.method).kind === "build" }]),
  );
}

/** What everyday requests are served with. */
interface EverydayParts {
  /** Of REST, by path. */
  readonly routes: EverydayRoutes;
  /** Of the typed wires, by path. */
  readonly calls: ReadonlyMap<string, EverydayCalls>;
  readonly settings: ApiSettings;
  readonly shedder: BuildShedder;
}

/**
 * Serves requests in everyday form before the router sees them: a POST to a path without variables that no web page of another
 * origin sent. Under overload REST builds are refused here; requests that come through no proxy go straight to their method. The
 * router serves everything else, by the same routes.
 */
export class EverydayRequests {
  /** False behind proxies, whose headers the router reads. */
  readonly mayBypass: boolean;
  readonly #parts: EverydayParts;
  /** Where pages of other origins may call, every response of the typed wires says so. */
  readonly #mayCall: boolean;

  constructor(parts: EverydayParts) {
    const { trustedProxies, corsOrigins } = parts.settings;
    this.#parts = parts;
    this.mayBypass = trustedProxies === 0;
    this.#mayCall = this.mayBypass && corsOrigins.length === 0;
  }

  /**
   * Serves a request of the HTTP server; false, with nothing done, for one that the router has to serve.
   *
   * @param router serves a build whose refusal was delayed until there was room again
   */
  take(request: IncomingMessage, response: ServerResponse, router: RequestListener): boolean {
    const { routes, calls, settings, shedder } = this.#parts;
    const known = routes.get(request.url!);
    if (known === undefined) {
      const peer = request.socket.remoteAddress ?? "";
      return this.#takeCall(calls.get(request.url!), request, response, peer);
    }
    // Responses to web pages need CORS headers, which the router sets.
    if (request.method !== "POST" || request.headers.origin !== undefined) return false;
    const isDirect = this.mayBypass && request.httpVersionMajor === 1 && refusalOfHead(request, settings) === undefined;
    if (known.isBuild && shedder.refuses(Number(request.headers["content-length"]))) {
      const serve = () => (isDirect ? serveDirectly(known.route, request, response) : router(request, response));
      shedder.shed(known.route.method.name, request, response, serve);
      return true;
    }
    if (isDirect) serveDirectly(known.route, request, response);
    return isDirect;
  }

  /** Serves a request that is read whole; false, with nothing done, for one that the HTTP server has to read. */
  takeWhole(whole: LaneRequest, answer: LaneResponse): boolean {
    const { routes, calls, settings, shedder } = this.#parts;
    const { bodyLimitBytes, headerLimitBytes } = settings;
    if (whole.headBytes > headerLimitBytes - HEAD_MARGIN_BYTES || whole.body.length > bodyLimitBytes) return false;
    const [request, response] = [whole.asIncoming(), answer.asResponse()];
    const known = routes.get(whole.url);
    if (known === undefined) {
      const peer = whole.socket.remoteAddress ?? "";
      return this.#takeCall(calls.get(whole.url), request, response, peer);
    }
    if (known.isBuild && shedder.refuses(whole.body.length)) return false;
    serveDirectly(known.route, request, response);
    return true;
  }

  /** Serves a call on an HTTP/2 stream; false, with nothing done, for any other request. */
  takeStream(opened: OpenedStream): boolean {
    const { headers, peer } = opened;
    // A client that expects "100 Continue" has not sent its body: the HTTP server asks for it.
    const call = this.#parts.calls.get(headers[":path"]!);
    if (call === undefined || headers.expect !== undefined) return false;
    const request = new StreamRequest(opened);
    return this.#takeCall(call, request.asIncoming(), new StreamResponse(request).asResponse(), peer);
  }

  #takeCall(
    call: EverydayCalls | undefined,
    request: IncomingMessage,
    response: ServerResponse,
    peer: string,
  ): boolean {
    const { settings } = this.#parts;
    if (call === undefined || !this.#mayCall || request.headers.origin !== undefined) return false;
    if (refusalOfHead(request, settings) !== undefined) return false;
    return call.take(request, response, peer);
  }
}

/** Below the limit of headers by this much, no way of counting them is above it. */
const HEAD_MARGIN_BYTES = 64;

function serveDirectly(route: RestRoute, request: IncomingMessage, response: ServerResponse): void {
  const peer = request.socket.remoteAddress ?? "";
  route.serve({ request, response, peer, variables: NOTHING, query: NOTHING });
}
