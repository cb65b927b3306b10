/** Codes of faults that this library finds by itself. A service that sends one of them lies. */
const LIBRARY_CODES = [
  "UNEXPECTED_TRANSACTION",
  "UNREADABLE_TRANSACTION",
  "UNEXPECTED_CHALLENGE",
  "UNEXPECTED_ANSWER",
  "DECIMALS_REQUIRED",
  "LIMIT_EXCEEDED",
  "PRICE_MOVED",
  "PRICE_CONTRADICTED",
  "BOUND_REQUIRED",
  "UNPROVEN",
  "SLIPPAGE_UNKNOWN",
  "SIMULATION_FAILED",
  "NODE_UNAVAILABLE",
  "REFERENCE_UNAVAILABLE",
  "DECLINED",
  "CONNECTION_ERROR",
  "ABORTED",
];

/** True for a code that only this library gives. */
export function isLibraryCode(code: string): boolean {
  return LIBRARY_CODES.includes(code);
}

/** Why a call failed: as reported by the service, or as found by this library before signing. */
export class TradeError extends Error {
  override readonly name: string = "TradeError";
  /**
   * One of the service's codes, such as SLIPPAGE_EXCEEDED, or one of the library's: CONNECTION_ERROR if the service could not be
   * reached, UNEXPECTED_TRANSACTION if the transaction is not the trade ordered, DECIMALS_REQUIRED if an amount cannot be scaled
   * without the service's word, UNEXPECTED_ANSWER if an answer contradicts what this library knows, ABORTED if the caller aborted.
   */
  readonly code: string;
  /** True if the same call may succeed later. */
  readonly retryable: boolean;
  /** After a submit: true if the transaction can no longer land. The service's word, unless your own node was asked. */
  readonly safeToRebuild: boolean | undefined;
  /** The invalid request field. */
  readonly field: string | undefined;
  /** The signature of the transaction, once this library has signed one: without it, nothing was signed. */
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

/** What is known of a failure besides its code and message. */
export interface TradeErrorFacts {
  readonly retryable?: boolean | undefined;
  readonly safeToRebuild?: boolean | undefined;
  readonly field?: string | undefined;
  readonly signature?: string | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** A refusal before anything is signed. @param reason without the full stop of its sentence */
export function unsigned(code: string, reason: string, facts?: TradeErrorFacts): TradeError {
  return new TradeError(code, `${reason}. Nothing was signed.`, facts);
}
