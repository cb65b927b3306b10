import {
  Code,
  ConnectError,
  createContextKey,
  type Interceptor,
  type StreamRequest,
  type UnaryRequest,
} from "@connectrpc/connect";
import type { KeyDirectory, Principal } from "../accounts/port.ts";
import { TradewireError } from "../errors/tradewire-error.ts";
import { needsKey } from "./access.ts";
import type { Admission } from "./admission.ts";
import type { CallObserver } from "./call-record.ts";
import { callStateKey, forEachAnswerHeader } from "./call-state.ts";
import { failureOf, toConnectError } from "./failure.ts";
import { guardCalls, limitKeys } from "./guard.ts";
import { Call, headerOf } from "./invoker.ts";
import type { RateLimits } from "./rate-limits.ts";
import type { ApiLogger } from "./settings.ts";
import { checkRequest } from "./validation.ts";

/** Names the call in answers and logs. */
export const requestIdKey = createContextKey<string>("", { description: "request id" });

const principalKey = createContextKey<Principal | undefined>(undefined, { description: "principal" });

/** Who calls. Present wherever a key is needed. */
export function principalOf(context: { readonly values: UnaryRequest["contextValues"] }): Principal {
  const principal = context.values.get(principalKey);
  if (principal === undefined) throw new Error("the call was not authenticated");
  return principal;
}

/**
 * What happens around every call on every wire, outermost first: failures are translated, there is room for the call, the
 * caller is known and within their limits, the request is sound.
 */
export function createInterceptors(edge: {
  readonly keys: KeyDirectory;
  readonly logger: ApiLogger;
  readonly requestIds: () => string;
  readonly limits: RateLimits;
  readonly admission: Admission;
  readonly observe: CallObserver;
}): readonly Interceptor[] {
  return [
    translateFailures(edge.logger, edge.requestIds),
    guardCalls(edge.limits, edge.admission, edge.observe, (request) => request.contextValues.get(requestIdKey)),
    authenticate(edge.keys),
    limitKeys(edge.limits, (request) => principalOf({ values: request.contextValues }).keyId),
    validate,
  ];
}

function translateFailures(logger: ApiLogger, requestIds: () => string): Interceptor {
  const translate = (error: unknown, request: UnaryRequest | StreamRequest): ConnectError => {
    // A ConnectError is the protocol's own: a deadline, a cancelled call, a method that does not exist.
    if (error instanceof ConnectError) return error;
    // A stream that breaks because its caller left has not failed.
    if (request.stream && request.signal.aborted) return new ConnectError("the caller left", Code.Canceled);
    const requestId = request.contextValues.get(requestIdKey);
    const failure = failureOf(error);
    if (failure.code === "INTERNAL_ERROR") {
      logger.error({ err: failure.cause ?? failure, requestId, method: request.method.name }, "call failed");
    }
    const translated = toConnectError(failure, requestId);
    if (!(request instanceof Call)) {
      forEachAnswerHeader(request.contextValues, failure, (name, value) => translated.metadata.set(name, value));
    }
    return translated;
  };
  return (next) => async (request) => {
    if (request.contextValues.get(requestIdKey) === "") request.contextValues.set(requestIdKey, requestIds());
    try {
      const response = await next(request);
      if (!(request instanceof Call)) {
        forEachAnswerHeader(request.contextValues, undefined, (name, value) => response.header.set(name, value));
      }
      if (!response.stream) return response;
      return { ...response, message: translated(response.message, (error) => translate(error, request)) };
    } catch (error) {
      throw translate(error, request);
    }
  };
}

async function* translated<T>(
  messages: AsyncIterable<T>,
  translate: (error: unknown) => ConnectError,
): AsyncIterable<T> {
  try {
    yield* messages;
  } catch (error) {
    throw translate(error);
  }
}

const BEARER = /^Bearer +(\S+)$/i;

function authenticate(keys: KeyDirectory): Interceptor {
  return (next) => (request) => {
    if (!needsKey(request.method)) return next(request);
    const header = headerOf(request, "authorization");
    const apiKey = header === undefined ? undefined : BEARER.exec(header)?.[1];
    if (apiKey === undefined) {
      throw new TradewireError(
        "AUTH_ERROR",
        header === undefined
          ? "An API key is missing. Send it as `Authorization: Bearer <API_KEY>`."
          : "The Authorization header is not `Bearer <API_KEY>`.",
      );
    }
    const principal = keys.authenticate(apiKey);
    if (principal instanceof Promise) {
      return principal.then((known) => {
        request.contextValues.set(principalKey, known);
        return next(request);
      });
    }
    request.contextValues.set(principalKey, principal);
    return next(request);
  };
}

const validate: Interceptor = (next) => (request) => {
  if (!request.stream) {
    checkRequest(request.method.input, request.message);
    request.contextValues.get(callStateKey)?.stages.mark("validate");
    return next(request);
  }
  return next({ ...request, message: validated(request) });
};

async function* validated(request: StreamRequest): StreamRequest["message"] {
  for await (const message of request.message) {
    checkRequest(request.method.input, message);
    yield message;
  }
}
