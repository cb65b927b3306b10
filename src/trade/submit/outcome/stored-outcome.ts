import type { SubmissionRecord } from "../../../accounts/port.ts";
import type { ErrorCode } from "../../../errors/error-codes.ts";
import { type Outcome, parseOutcome } from "./outcome.ts";

/**
 * The outcome in a record; undefined if it is pending, or if it cannot be read or belongs to another signature: then only the chain knows
 * how the message ended.
 */
export function storedOutcome({
  outcome: text,
  signature,
  isFinalized,
}: Pick<SubmissionRecord, "outcome" | "signature" | "isFinalized">): Outcome | undefined {
  if (text === undefined) return undefined;
  try {
    const outcome = parseOutcome(text, isFinalized);
    const named = outcome.kind === "failed" ? outcome.facts.details?.signature : undefined;
    return named === undefined || named === signature ? outcome : undefined;
  } catch {
    return undefined;
  }
}

/** Codes of trades that were seen in no block. */
const UNLANDED: readonly ErrorCode[] = ["TX_EXPIRED", "OUTCOME_UNKNOWN"];

/** True if an outcome that the chain showed here rules out the stored one: what has landed has not expired, and is not too old to tell. */
export function contradicts(shown: Outcome, stored: Outcome): boolean {
  const hasLanded = shown.kind === "landed" || shown.facts.details?.slot !== undefined;
  return hasLanded && stored.kind === "failed" && UNLANDED.includes(stored.code);
}
