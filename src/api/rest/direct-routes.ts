import type { IncomingMessage, RequestListener } from "node:http";
import type { ApiSettings } from "../settings.ts";
import type { RestRoute } from "./rest-routes.ts";

const NOTHING: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Takes REST calls of the everyday form straight to their method: posted over HTTP/1.1 to a path without variables, by
 * a caller who is no web page and comes through no proxy. Everything else goes through the router, which serves the same routes.
 */
export function routeDirectly(
  handler: RequestListener,
  edge: { readonly routes: readonly RestRoute[]; readonly settings: ApiSettings; readonly maxHeaders: number },
): RequestListener {
  if (edge.settings.trustedProxies > 0) return handler;
  const routes = new Map<string, RestRoute>();
  for (const route of edge.routes) {
    const { verb, path, variables } = route.binding;
    if (verb === "POST" && variables.length === 0) routes.set(path, route);
  }
  const isUsual = ({ method, httpVersionMajor, rawHeaders, headers }: IncomingMessage): boolean =>
    method === "POST" &&
    httpVersionMajor === 1 &&
    rawHeaders.length <= 2 * edge.maxHeaders &&
    headers.host !== undefined &&
    headers.origin === undefined;
  return (request, response) => {
    const route = routes.get(request.url!);
    if (route === undefined || !isUsual(request)) return handler(request, response);
    const peer = request.socket.remoteAddress ?? "";
    route.serve({ request, response, peer, variables: NOTHING, query: NOTHING });
  };
}
