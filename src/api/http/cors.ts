import type { FastifyInstance } from "fastify";

const ALLOWED_HEADERS =
  "authorization, content-type, connect-protocol-version, connect-timeout-ms, grpc-timeout, x-grpc-web, x-user-agent, traceparent";
const EXPOSED_HEADERS =
  "x-request-id, retry-after, ratelimit, ratelimit-policy, server-timing, grpc-status, grpc-message, grpc-status-details-bin";
const PREFLIGHT_SECONDS = "7200";

/** Allows calls from pages of the given origins, without credentials. Registers nothing if there are none. */
export function registerCors(fastify: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return;
  const allowed = new Set(origins);
  fastify.addHook("onRequest", (request, reply, done) => {
    const { origin } = request.headers;
    // RPC responses bypass the router, so these headers are set on the raw response.
    reply.raw.setHeader("vary", "origin");
    if (origin === undefined || !allowed.has(origin)) {
      done();
      return;
    }
    reply.raw.setHeader("access-control-allow-origin", origin);
    if (request.method !== "OPTIONS" || request.headers["access-control-request-method"] === undefined) {
      reply.raw.setHeader("access-control-expose-headers", EXPOSED_HEADERS);
      done();
      return;
    }
    reply.header("access-control-allow-methods", "GET, POST, DELETE");
    reply.header("access-control-allow-headers", ALLOWED_HEADERS);
    reply.header("access-control-max-age", PREFLIGHT_SECONDS);
    reply.code(204).send();
  });
}
