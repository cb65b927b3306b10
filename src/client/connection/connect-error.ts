import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorDetailSchema } from "../../../gen/tradewire/v1/errors_pb.ts";
import { TradeError } from "../trade-error.ts";

/** Any failure of a call as a TradeError. */
export function toTradeError(error: unknown): TradeError {
  if (error instanceof TradeError) return error;
  const failure = ConnectError.from(error);
  const [detail] = failure.findDetails(ErrorDetailSchema);
  if (detail === undefined) return withoutDetail(failure, error);
  const signature = detail.details?.signature;
  return new TradeError(detail.code, detail.message, {
    retryable: detail.retryable,
    safeToRebuild: detail.safeToRebuild,
    field: detail.field,
    signature: typeof signature === "string" ? signature : undefined,
    requestId: detail.requestId,
    retryAfterMs: detail.retryAfterMs,
    cause: error,
  });
}

/** A failure outside the service: of the connection, a proxy, or the caller's own signal. */
function withoutDetail(failure: ConnectError, cause: unknown): TradeError {
  if (failure.code === Code.Canceled) return new TradeError("ABORTED", "The caller aborted the call.", { cause });
  const lost =
    failure.code === Code.Unavailable || failure.code === Code.Unknown || failure.code === Code.DeadlineExceeded;
  return lost
    ? new TradeError("CONNECTION_ERROR", `The service could not be reached: ${failure.rawMessage}`, {
        retryable: true,
        cause,
      })
    : new TradeError("INTERNAL_ERROR", failure.rawMessage, { cause });
}
