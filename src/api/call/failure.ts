import type { IncomingMessage } from "node:http";
import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorDetailSchema } from "../../../gen/tradewire/v1/errors_pb.ts";
import { TradeService } from "../../../gen/tradewire/v1/trade_pb.ts";
import { ERRORS, type RpcStatus } from "../../errors/error-codes.ts";
import { docUrlOf, TradewireError } from "../../errors/tradewire-error.ts";
import { internalError } from "../http/envelope.ts";
import { restBindingOf } from "../rest/rest-binding.ts";

const CODES: Readonly<Record<RpcStatus, Code>> = {
  invalid_argument: Code.InvalidArgument,
  unauthenticated: Code.Unauthenticated,
  permission_denied: Code.PermissionDenied,
  not_found: Code.NotFound,
  already_exists: Code.AlreadyExists,
  failed_precondition: Code.FailedPrecondition,
  resource_exhausted: Code.ResourceExhausted,
  aborted: Code.Aborted,
  deadline_exceeded: Code.DeadlineExceeded,
  unimplemented: Code.Unimplemented,
  internal: Code.Internal,
  unavailable: Code.Unavailable,
};

/** The TradewireError behind anything thrown. Unknown errors become INTERNAL_ERROR; the original is kept as `cause`, only for the log. */
export function failureOf(error: unknown): TradewireError {
  if (error instanceof TradewireError) return error;
  if (error instanceof ConnectError && error.cause instanceof TradewireError) return error.cause;
  return internalError(error);
}

/**
 * The failure as clients of a method see it. Every failed submit carries `safeToRebuild`: false unless it is proven that
 * the signed transaction can no longer land.
 */
export function failureOfCall({ method }: { readonly method: DescMethod }, error: unknown): TradewireError {
  const failure = failureOf(error);
  if (method !== TradeService.method.submit || failure.facts.safeToRebuild !== undefined) return failure;
  const { code, message, facts, cause } = failure;
  return new TradewireError(code, message, {
    ...facts,
    safeToRebuild: false,
    ...(cause === undefined ? {} : { cause }),
  });
}

const { submit } = TradeService.method;
/** Where signed transactions are sent, over REST and over the typed wires. */
const SUBMIT_PATHS: ReadonlySet<string> = new Set([
  restBindingOf(submit)!.path,
  `/${TradeService.typeName}/${submit.name}`,
]);

/** The refusal of a request that did not become a call, as its client sees it; a refused submit carries `safeToRebuild` too. */
export function refusalOfRequest(
  { method, url = "" }: Pick<IncomingMessage, "method" | "url">,
  refusal: TradewireError,
): TradewireError {
  const isSubmit = method === "POST" && SUBMIT_PATHS.has(url.split("?", 1)[0]!);
  return isSubmit ? failureOfCall({ method: submit }, refusal) : refusal;
}

/** True for a ConnectError without a failure behind it, which is the protocol's own: a cancelled call, an unimplemented method. */
export const isOfProtocol = (error: unknown): error is ConnectError =>
  error instanceof ConnectError && !(error.cause instanceof TradewireError);

/** Ends the streams of a process that stops. Their trades and prices have neither ended nor failed, so none is counted as refused. */
export const STOPPING = new ConnectError("the service is closing", Code.Unavailable);

/** How callers see a stream that ends with this failure. */
export const stoppingRefusal = (): TradewireError =>
  new TradewireError("OVERLOADED", "This process is stopping. Open the stream again.", { retryAfterMs: 1_000 });

/** The refusal of a call on the typed wires. */
interface CallRefusal {
  readonly error: ConnectError;
  /** Undefined if the error is the protocol's own. */
  readonly failure: TradewireError | undefined;
}

/**
 * The refusal of a call of the typed wires. A ConnectError keeps its code and its headers, which the protocol prescribes.
 */
export function refusalOfCall(call: { readonly method: DescMethod }, error: unknown, requestId: string): CallRefusal {
  if (error === STOPPING) return refusalOfCall(call, stoppingRefusal(), requestId);
  if (isOfProtocol(error)) return { error, failure: undefined };
  const isOwn = call.method.parent.file.proto.package === ErrorDetailSchema.file.proto.package;
  const failure = failureOfCall(call, error);
  if (!(error instanceof ConnectError)) return { error: toConnectError(failure, requestId, isOwn), failure };
  const translated = toConnectError(failure, requestId, isOwn, error.code);
  for (const [name, value] of error.metadata) translated.metadata.set(name, value);
  return { error: translated, failure };
}

/** The failure as a Connect or gRPC status. @param isOwn true on the product's own services, which add an ErrorDetail */
export function toConnectError(
  failure: TradewireError,
  requestId: string,
  isOwn: boolean,
  code = CODES[ERRORS[failure.code].rpc],
): ConnectError {
  if (!isOwn) return new ConnectError(failure.message, code, undefined, undefined, failure);
  const { field, safeToRebuild, retryAfterMs, details } = failure.facts;
  return new ConnectError(
    failure.message,
    code,
    undefined,
    [
      {
        desc: ErrorDetailSchema,
        value: {
          code: failure.code,
          message: failure.message,
          retryable: failure.retryable,
          requestId,
          docUrl: docUrlOf(failure.code),
          violations: failure.violations.map((violation) => ({ ...violation })),
          ...(field === undefined ? {} : { field }),
          ...(safeToRebuild === undefined ? {} : { safeToRebuild }),
          ...(retryAfterMs === undefined ? {} : { retryAfterMs: Math.ceil(retryAfterMs) }),
          ...(details === undefined ? {} : { details: { ...details } satisfies JsonObject }),
        },
      },
    ],
    failure,
  );
}
