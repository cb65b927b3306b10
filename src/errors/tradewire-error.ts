/** gRPC status names used by the table. */
export type RpcStatus =
  | "invalid_argument"
  | "unauthenticated"
  | "permission_denied"
  | "not_found"
  | "already_exists"
  | "failed_precondition"
  | "resource_exhausted"
  | "aborted"
  | "deadline_exceeded"
  | "unimplemented"
  | "internal"
  | "unavailable";

interface ErrorRow {
  readonly http: number;
  readonly rpc: RpcStatus;
  /** True when the same call may succeed later without being changed. */
  readonly retryable: boolean;
}

const row = (http: number, rpc: RpcStatus, retryable = false): ErrorRow => ({ http, rpc, retryable });

/** The one table of error codes: what each is on every wire. */
export const ERRORS = {
  VALIDATION_ERROR: row(400, "invalid_argument"),
  MESSAGE_MISMATCH: row(400, "invalid_argument"),
  INVALID_SIGNATURE: row(400, "invalid_argument"),
  NOT_FULLY_SIGNED: row(400, "invalid_argument"),
  INVALID_SUBMISSION_TOKEN: row(400, "invalid_argument"),
  AUTH_ERROR: row(401, "unauthenticated"),
  WALLET_MISMATCH: row(403, "permission_denied"),
  NOT_FOUND: row(404, "not_found"),
  TOKEN_NOT_FOUND: row(404, "not_found"),
  TRADE_NOT_FOUND: row(404, "not_found"),
  METHOD_NOT_ALLOWED: row(405, "unimplemented"),
  REQUEST_TIMEOUT: row(408, "deadline_exceeded", true),
  CONFLICT_ERROR: row(409, "already_exists"),
  TX_EXPIRED: row(410, "failed_precondition"),
  BODY_TOO_LARGE: row(413, "resource_exhausted"),
  HEADERS_TOO_LARGE: row(431, "resource_exhausted"),
  NO_ROUTE: row(422, "failed_precondition"),
  INSUFFICIENT_LIQUIDITY: row(422, "failed_precondition"),
  INSUFFICIENT_SOL: row(422, "failed_precondition"),
  INSUFFICIENT_TOKEN_BALANCE: row(422, "failed_precondition"),
  UNSUPPORTED_TOKEN_EXTENSION: row(422, "failed_precondition"),
  PRICE_IMPACT_TOO_HIGH: row(422, "failed_precondition"),
  PRIORITY_COST_TOO_HIGH: row(422, "failed_precondition"),
  SLIPPAGE_EXCEEDED: row(422, "aborted"),
  PROGRAM_ERROR: row(422, "aborted"),
  RATE_LIMIT_EXCEEDED: row(429, "resource_exhausted", true),
  INTERNAL_ERROR: row(500, "internal"),
  UPSTREAM_ERROR: row(503, "unavailable", true),
  STATE_STALE: row(503, "unavailable", true),
  VENUE_DEGRADED: row(503, "unavailable", true),
  OVERLOADED: row(503, "unavailable", true),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

/** Facts that go with a code to the caller. Text values only where a value may exceed a double. */
export interface ErrorFacts {
  /** The request field at fault, as the REST surface names it. */
  readonly field?: string;
  /** Overrides the table where the circumstance decides. */
  readonly retryable?: boolean;
  /** After a submit: true when nothing of this transaction can land any more. */
  readonly safeToRebuild?: boolean;
  readonly retryAfterMs?: number;
  readonly details?: Readonly<Record<string, string | number>>;
  readonly cause?: unknown;
}

/**
 * Everything Tradewire refuses or fails with. Thrown with its facts where they are known, translated to a wire once, at the edge.
 * A refusal is an answer and not a fault: it has no stack, which nobody reads and which costs ten times the rest, so that markets
 * that refuse cost a route little and refused calls the service.
 */
export class TradewireError extends Error {
  override readonly name = "TradewireError";
  readonly code: ErrorCode;
  readonly facts: ErrorFacts;

  constructor(code: ErrorCode, message: string, facts: ErrorFacts = {}) {
    const { stackTraceLimit } = Error;
    if (ERRORS[code].http < 500) Error.stackTraceLimit = 0;
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
    this.facts = facts;
  }

  get retryable(): boolean {
    return this.facts.retryable ?? ERRORS[this.code].retryable;
  }
}

/** A request field that breaks a rule. `field` is named as on the REST surface. */
export function invalidField(field: string, message: string): TradewireError {
  return new TradewireError("VALIDATION_ERROR", message, { field });
}
