import type { Outcome } from "./outcome.ts";

/** The outcome of a transaction that is in no block and can no longer land. */
export function expiredOutcome(signature: string): Outcome {
  return {
    kind: "failed",
    code: "TX_EXPIRED",
    message:
      "The transaction can no longer land: its blockhash has expired and it is in no block. Build the trade again.",
    facts: { safeToRebuild: true, details: { signature } },
  };
}
