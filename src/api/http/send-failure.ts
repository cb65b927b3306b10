import type { FastifyReply } from "fastify";
import type { TradewireError } from "../../errors/tradewire-error.ts";
import { httpStatusOf, JSON_TYPE, toEnvelope } from "./envelope.ts";

/** Answers a request that never became a call with the error envelope. */
export function sendFailure(reply: FastifyReply, failure: TradewireError, requestId: string): FastifyReply {
  reply.code(httpStatusOf(failure)).header("content-type", JSON_TYPE).header("x-request-id", requestId);
  return reply.send(toEnvelope(failure, requestId));
}
