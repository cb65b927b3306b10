import type { FastifyInstance } from "fastify";
import { registerMisdirected } from "../http/refusals.ts";
import type { EventRoute } from "./event-route.ts";
import type { RestRequest, RestRoute } from "./rest-route.ts";

/** Registers routes with the router. They write their responses themselves. */
export function registerRestRoutes(fastify: FastifyInstance, routes: readonly (RestRoute | EventRoute)[]): void {
  for (const route of routes) {
    fastify.route({
      method: route.binding.verb,
      // A stream has a beginning only with its body.
      exposeHeadRoute: route.method.methodKind === "unary",
      url: route.binding.path.replace(/\{(\w+)\}/g, ":$1"),
      handler(request, reply) {
        reply.hijack();
        route.serve({
          request: request.raw,
          response: reply.raw,
          peer: request.ip,
          variables: request.params as RestRequest["variables"],
          query: request.query as object,
        });
      },
    });
  }
  registerMisdirected(fastify, [...misdirectedRoutes(routes), ...emptyRoutes(routes)]);
}

/** Requests that a route with a variable would match although the path is a word of its own: GET /v1/tx/buy. */
function misdirectedRoutes(routes: readonly (RestRoute | EventRoute)[]) {
  const bindings = routes.map(({ binding }) => binding);
  const words = bindings.filter(({ variables }) => variables.length === 0).map(({ path }) => path);
  return bindings
    .filter(({ variables }) => variables.length > 0)
    .flatMap(({ verb, path }) => {
      const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
      return [...new Set(words)].filter((url) => pattern.test(url)).map((url) => ({ method: verb, url }));
    });
}

/** Requests that a route with a variable at its end would match although that is empty: GET /v1/tx/. */
function emptyRoutes(routes: readonly (RestRoute | EventRoute)[]) {
  return routes.flatMap(({ binding: { verb, path } }) => {
    const url = path.replace(/\{\w+\}$/, "");
    return url === path ? [] : [{ method: verb, url }];
  });
}
