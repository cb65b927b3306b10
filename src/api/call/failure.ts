import type { DescMethod, DescService, JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorDetailSchema } from "../../../gen/tradewire/v1/errors_pb.ts";
import { TradeService } from "../../../gen/tradewire/v1/trade_pb.ts";
import { ERRORS, type RpcStatus, TradewireError } from "../../errors/tradewire-error.ts";

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

/** The failure inside anything thrown. What is not ours becomes INTERNAL_ERROR and keeps its origin as `cause`, for the log alone. */
export function failureOf(error: unknown): TradewireError {
  if (error instanceof TradewireError) return error;
  if (error instanceof ConnectError && error.cause instanceof TradewireError) return error.cause;
  return new TradewireError("INTERNAL_ERROR", "The service failed. Report the request id if it happens again.", {
    cause: error,
  });
}

/**
 * The failure as callers of a method get it. Every failed submit says whether the trade may be built anew: no, where nothing
 * proves that what was signed cannot land any more.
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

/** The failure as typed clients get it: a status, and with our own services an ErrorDetail, which no other definition knows. */
export function toConnectError(failure: TradewireError, requestId: string, service: DescService): ConnectError {
  const code = CODES[ERRORS[failure.code].rpc];
  if (service.file.proto.package !== ErrorDetailSchema.file.proto.package) {
    return new ConnectError(failure.message, code, undefined, undefined, failure);
  }
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

/** The failure as the REST envelope, JSON text. */
export function toEnvelope(failure: TradewireError, requestId: string): string {
  const { field, safeToRebuild, retryAfterMs, details } = failure.facts;
  return JSON.stringify({
    success: false,
    requestId,
    error: {
      code: failure.code,
      message: failure.message,
      retryable: failure.retryable,
      safeToRebuild,
      field,
      retryAfterMs,
      details,
    },
  });
}

/** The HTTP status of a failure on the REST surface. */
export function httpStatusOf(failure: TradewireError): number {
  return ERRORS[failure.code].http;
}
