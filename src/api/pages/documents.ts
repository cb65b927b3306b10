import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { forEachHeader } from "../call/call-state.ts";
import { failureOf } from "../call/failure.ts";
import { LimitNote } from "../call/limit-note.ts";
import type { RateLimits } from "../call/rate-limits.ts";
import { JSON_TYPE } from "../http/envelope.ts";
import { parseBody } from "../http/parse-json.ts";
import { readBody } from "../http/read-body.ts";
import { sendFailure } from "../http/refusals.ts";
import type { ApiLogger, ApiSettings } from "../settings.ts";
import type { SharedDocument } from "./shared-document.ts";

const PERMANENT_REDIRECT = 308;

interface DocumentsParts {
  readonly fastify: FastifyInstance;
  readonly limits: RateLimits;
  readonly requestIds: () => string;
  readonly settings: ApiSettings;
  readonly logger: ApiLogger;
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

  /** Redirects a path with a trailing slash to the path itself, with its query. */
  redirectSlash(path: string): void {
    this.#parts.fastify.get(`${path}/`, (request, reply) => {
      if (!this.#admit(request, reply)) return;
      reply.redirect(path + request.url.slice(path.length + 1), PERMANENT_REDIRECT);
    });
  }

  /**
   * Serves documents that are created on request.
   *
   * @param find the document of a path; undefined if there is none
   */
  serveLater(pattern: string, find: (path: string) => Promise<SharedDocument | undefined>): void {
    this.#parts.fastify.get(pattern, async (request, reply) => {
      if (!this.#admit(request, reply)) return reply;
      const document = await find(request.url.split("?", 1)[0]!);
      if (document === undefined) {
        reply.callNotFound();
        return reply;
      }
      reply.hijack();
      document.send(request, reply.raw);
      return reply;
    });
  }

  /**
   * Serves an action that changes something, limited like registrations.
   *
   * @param act runs it with the JSON body @throws TradewireError
   */
  serveAction(path: string, act: (body: Readonly<Record<string, unknown>>) => Promise<object>): void {
    const { fastify, limits, requestIds, settings, logger } = this.#parts;
    fastify.post(path, (request, reply) => {
      const requestId = requestIds();
      const note = new LimitNote();
      const refuse = (error: unknown) => {
        const failure = failureOf(error);
        if (failure.code === "INTERNAL_ERROR") logger.error({ err: error, requestId, url: path }, "request failed");
        sendRefusal(reply, failure, note, requestId);
      };
      const takeBody = (body: Buffer | TradewireError): void => {
        if (body instanceof TradewireError) {
          refuse(body);
          return;
        }
        Promise.resolve()
          .then(() => {
            limits.takeAddress("register", request.ip, note);
            const json = parseBody(body, request.raw, request.query as object);
            if (typeof json !== "object" || json === null || Array.isArray(json)) {
              throw new TradewireError("VALIDATION_ERROR", "The request body is not a JSON object.");
            }
            return act(json as Readonly<Record<string, unknown>>);
          })
          .then((data) => {
            forEachHeader(note.lines(), (name, value) => reply.header(name, value));
            reply
              .header("x-request-id", requestId)
              .type(JSON_TYPE)
              .send(JSON.stringify({ success: true, data }));
          })
          .catch(refuse);
      };
      readBody(request.raw, settings, { takeBody });
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
    const note = new LimitNote();
    try {
      limits.takePage(request.ip, note);
      return true;
    } catch (error) {
      sendRefusal(reply, failureOf(error), note, requestIds());
      return false;
    }
  }
}

/** @param note what the limits say of the request */
function sendRefusal(reply: FastifyReply, failure: TradewireError, note: LimitNote, requestId: string): void {
  forEachHeader(note.lines(), (name, value) => reply.header(name, value));
  sendFailure(reply, failure, requestId);
}
