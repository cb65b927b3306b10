import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorDetailSchema } from "../../../gen/tradewire/v1/errors_pb.ts";
import { printable } from "../answers/printable.ts";
import { isLibraryCode, TradeError } from "../trade-error.ts";

/** Any failure of a call as a TradeError, without a signature: which one there is, the caller knows. */
export function toTradeError(error: unknown): TradeError {
  if (error instanceof TradeError) return error;
  const failure = ConnectError.from(error);
  const [detail] = failure.findDetails(ErrorDetailSchema);
  if (detail === undefined) return withoutDetail(failure, error);
  // What this library finds by itself, such as that nothing was signed, no service can say.
  const code = isLibraryCode(detail.code) ? "UNEXPECTED_ANSWER" : printable(detail.code);
  return new TradeError(code, printable(detail.message), {
    retryable: detail.retryable,
    safeToRebuild: detail.safeToRebuild,
    field: detail.field,
    requestId: detail.requestId,
    retryAfterMs: detail.retryAfterMs,
    cause: error,
  });
}

/** What a transport calls a connection that broke, and a proxy the service behind it. */
const LOST: readonly Code[] = [Code.Unavailable, Code.Unknown, Code.DeadlineExceeded, Code.Aborted];

/** A failure outside the service: of the connection, a proxy, or the caller's own signal. */
function withoutDetail(failure: ConnectError, cause: unknown): TradeError {
  if (failure.code === Code.Canceled) return new TradeError("ABORTED", "The caller aborted the call.", { cause });
  // Transports call some breaks internal; an answer that says so has headers.
  const isBreak = failure.code === Code.Internal && failure.metadata.keys().next().done === true;
  return isBreak || LOST.includes(failure.code)
    ? new TradeError("CONNECTION_ERROR", `The service could not be reached: ${printable(failure.rawMessage)}`, {
        retryable: true,
        cause,
      })
    : new TradeError("INTERNAL_ERROR", printable(failure.rawMessage), { cause });
}
