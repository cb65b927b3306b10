/** Why a call failed: as reported by the service, or as found by this library before signing. */
export class TradeError extends Error {
  override readonly name: string = "TradeError";
  /**
   * One of the service's codes, such as SLIPPAGE_EXCEEDED, or one of the library's: CONNECTION_ERROR if the service could not be
   * reached, UNEXPECTED_TRANSACTION if the transaction is not the trade ordered, ABORTED if the caller aborted the call.
   */
  readonly code: string;
  /** True if the same call may succeed later. */
  readonly retryable: boolean;
  /** After a submit: true if the transaction can no longer land. */
  readonly safeToRebuild: boolean | undefined;
  /** The invalid request field. */
  readonly field: string | undefined;
  /** The signature of the transaction, once there is one. */
  readonly signature: string | undefined;
  readonly requestId: string | undefined;
  /** How long to wait before the next attempt. Milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(code: string, message: string, facts: TradeErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    this.retryable = facts.retryable ?? false;
    this.safeToRebuild = facts.safeToRebuild;
    this.field = facts.field;
    this.signature = facts.signature;
    this.requestId = facts.requestId;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

export interface TradeErrorFacts {
  readonly retryable?: boolean | undefined;
  readonly safeToRebuild?: boolean | undefined;
  readonly field?: string | undefined;
  readonly signature?: string | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}
