import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorDetailSchema } from "../../gen/tradewire/v1/errors_pb.ts";

/** Why a call failed, as the service says it, or as this library found it before anything was signed. */
export class TradeError extends Error {
  override readonly name = "TradeError";
  /** One of the service's codes, such as SLIPPAGE_EXCEEDED; CONNECTION_ERROR when the service could not be reached. */
  readonly code: string;
  /** True when the same call may succeed later. */
  readonly retryable: boolean;
  /** After a submit: true when nothing of that transaction can land any more. */
  readonly safeToRebuild: boolean | undefined;
  /** The request field at fault. */
  readonly field: string | undefined;
  /** The transaction concerned, once there is one. */
  readonly signature: string | undefined;
  readonly requestId: string | undefined;

  constructor(
    code: string,
    message: string,
    facts: {
      readonly retryable?: boolean | undefined;
      readonly safeToRebuild?: boolean | undefined;
      readonly field?: string | undefined;
      readonly signature?: string | undefined;
      readonly requestId?: string | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    this.retryable = facts.retryable ?? false;
    this.safeToRebuild = facts.safeToRebuild;
    this.field = facts.field;
    this.signature = facts.signature;
    this.requestId = facts.requestId;
  }
}

/** Any failure of a call as a TradeError. */
export function toTradeError(error: unknown): TradeError {
  if (error instanceof TradeError) return error;
  const failure = ConnectError.from(error);
  const [detail] = failure.findDetails(ErrorDetailSchema);
  if (detail === undefined) {
    const lost =
      failure.code === Code.Unavailable || failure.code === Code.Unknown || failure.code === Code.DeadlineExceeded;
    return new TradeError(lost ? "CONNECTION_ERROR" : "INTERNAL_ERROR", failure.rawMessage, {
      retryable: lost,
      cause: error,
    });
  }
  const signature = detail.details?.signature;
  return new TradeError(detail.code, detail.message, {
    retryable: detail.retryable,
    safeToRebuild: detail.safeToRebuild,
    field: detail.field,
    signature: typeof signature === "string" ? signature : undefined,
    requestId: detail.requestId,
    cause: error,
  });
}
