import { ERRORS, type ErrorCode } from "./error-codes.ts";

/** A request field at fault, by its REST name, and what is wrong with it. */
export interface FieldViolation {
  readonly field: string;
  readonly message: string;
}

/** What the caller learns beside the code. Values that may exceed a double are text. */
export interface ErrorFacts {
  /** The request field at fault, under its REST name. */
  readonly field?: string;
  /** Every request field at fault, if there are several; the first is `field`. */
  readonly violations?: readonly FieldViolation[];
  /** Overrides the table if the circumstances decide. */
  readonly retryable?: boolean;
  /** After a submit: true if this transaction can no longer land. */
  readonly safeToRebuild?: boolean;
  readonly retryAfterMs?: number;
  readonly details?: Readonly<Record<string, string | number | boolean>>;
  readonly cause?: unknown;
  /** Venues whose markets were tried for a trade without a route, by why they did not serve. Counted here; callers do not get it. */
  readonly tried?: { readonly refused: readonly string[]; readonly withheld: readonly string[] };
}

/**
 * Every refusal and failure of Tradewire. Thrown where the facts are known, translated to a wire once, at the edge. A refusal
 * (below HTTP 500) is an answer, not a fault, and carries no stack: capturing one costs ten times the rest, and routes try
 * many markets that refuse.
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

  /** Every request field at fault. */
  get violations(): readonly FieldViolation[] {
    const { field, violations } = this.facts;
    return violations ?? (field === undefined ? [] : [{ field, message: this.message }]);
  }

  get retryable(): boolean {
    return this.facts.retryable ?? ERRORS[this.code].retryable;
  }
}

/** Where a code is explained, relative to the address of the service. */
export const docUrlOf = (code: ErrorCode): string => `/docs#${code}`;

/** A request field that breaks a rule. `field` is its REST name. */
export function invalidField(field: string, message: string): TradewireError {
  return new TradewireError("VALIDATION_ERROR", message, { field });
}
