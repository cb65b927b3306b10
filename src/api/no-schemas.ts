import type { FastifyServerOptions } from "fastify";

/** @throws Error always */
function refuse(): never {
  throw new Error("a route may have no schema here: requests are validated by their definition");
}

/** Fastify without compilers of schemas, which no route here has: it would load two of them, a hundred files, at every start. */
export const NO_SCHEMAS: NonNullable<FastifyServerOptions["schemaController"]> = {
  compilersFactory: { buildValidator: refuse, buildSerializer: refuse },
};
