import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { failureOf } from "../call/failure.ts";
import type { RateLimits } from "../call/rate-limits.ts";
import { sendFailure } from "../http/envelope.ts";
import type { SharedDocument } from "./shared-document.ts";

interface DocumentsParts {
  readonly fastify: FastifyInstance;
  readonly limits: RateLimits;
  readonly requestIds: () => string;
}

/** Serves what anyone may read without a key, limited by address. */
export class Documents {
  readonly #parts: DocumentsParts;

  constructor(parts: DocumentsParts) {
    this.#parts = parts;
  }

  /** Serves a document at a path. @param document asked for with each request; it is made once */
  serve(path: string, document: () => SharedDocument): void {
    this.#parts.fastify.get(path, (request, reply) => {
      if (!this.#admit(request, reply)) return;
      reply.hijack();
      document().send(request, reply.raw);
    });
  }

  /** Serves what changes at a path. @param answer writes the response */
  serveLive(path: string, answer: (reply: FastifyReply) => void): void {
    this.#parts.fastify.get(path, (request, reply) => {
      if (this.#admit(request, reply)) answer(reply);
    });
  }

  /** Counts the request; answers it and returns false if its address has asked for too much. */
  #admit(request: FastifyRequest, reply: FastifyReply): boolean {
    const { limits, requestIds } = this.#parts;
    const headers: string[] = [];
    try {
      limits.takePage(request.ip, headers);
      return true;
    } catch (error) {
      const failure = failureOf(error);
      for (let i = 0; i < headers.length; i += 2) reply.header(headers[i]!, headers[i + 1]!);
      reply.header("retry-after", String(Math.ceil(failure.facts.retryAfterMs! / 1_000)));
      sendFailure(reply, failure, requestIds());
      return false;
    }
  }
}
