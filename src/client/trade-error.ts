/** Why a call failed, as the service says it, or as this library found it before anything was signed. */
export class TradeError extends Error {
  override readonly name: string = "TradeError";
  /**
   * One of the service's codes, such as SLIPPAGE_EXCEEDED. The library's own: CONNECTION_ERROR when the service could not be
   * reached, UNEXPECTED_TRANSACTION when what it built is not what was asked for, ABORTED when the caller gave up.
   */
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
