import { ERRORS } from "../../errors/error-codes.ts";
import { docUrlOf, TradewireError } from "../../errors/tradewire-error.ts";

/** Content type of the REST envelope. */
export const JSON_TYPE = "application/json; charset=utf-8";

/** What headers of the envelope begin with, names and values in turn: it is one caller's and of one moment, so no cache may keep it. */
export const ENVELOPE_HEADERS = ["Cache-Control", "no-store", "Content-Type", JSON_TYPE] as const;

/** The failure as JSON text of the REST envelope. */
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
      violations: failure.violations.length === 0 ? undefined : failure.violations,
      doc_url: docUrlOf(failure.code),
    },
  });
}

/** The HTTP status of a failure in REST. */
export function httpStatusOf(failure: TradewireError): number {
  return ERRORS[failure.code].http;
}

/** INTERNAL_ERROR, with the original error as `cause`, only for the log. */
export function internalError(cause: unknown): TradewireError {
  return new TradewireError("INTERNAL_ERROR", "Internal error. If it happens again, report the request id.", { cause });
}
