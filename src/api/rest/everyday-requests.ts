import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { accessOf } from "../call/access.ts";
import { MAX_HEADERS, refusalOfHead } from "../http/refusals.ts";
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
export function serveEverydayRequests(router: RequestListener, parts: EverydayParts): RequestListener {
  const { routes, settings, calls, shedder } = parts;
  const mayBypass = settings.trustedProxies === 0;
  // Where pages of other origins may call, every response of the typed wires says so.
  const mayCall = mayBypass && settings.corsOrigins.length === 0;
  const serve = (route: RestRoute, request: IncomingMessage, response: ServerResponse): void => {
    if (mayBypass && isComplete(request)) serveDirectly(route, request, response);
    else router(request, response);
  };
  return (request, response) => {
    const known = routes.get(request.url!);
    if (known === undefined && mayCall && request.headers.origin === undefined) {
      const call = calls.get(request.url!);
      const isServed =
        call !== undefined &&
        refusalOfHead(request, settings) === undefined &&
        call.take(request, response, request.socket.remoteAddress ?? "");
      if (isServed) return;
    }
    // Responses to web pages need CORS headers, which the router sets.
    if (known === undefined || request.method !== "POST" || request.headers.origin !== undefined) {
      router(request, response);
      return;
    }
    if (known.isBuild && shedder.refuses(Number(request.headers["content-length"]))) {
      shedder.shed(known.route.method.name, request, response, () => serve(known.route, request, response));
    } else serve(known.route, request, response);
  };
}

/** True for HTTP/1.1 requests whose headers the router would not refuse. */
function isComplete({ httpVersionMajor, rawHeaders, headers }: IncomingMessage): boolean {
  return httpVersionMajor === 1 && rawHeaders.length <= 2 * MAX_HEADERS && headers.host !== undefined;
}

function serveDirectly(route: RestRoute, request: IncomingMessage, response: ServerResponse): void {
  const peer = request.socket.remoteAddress ?? "";
  route.serve({ request, response, peer, variables: NOTHING, query: NOTHING });
}
