import type { MessageFinding } from "../../../chain/port.ts";
import type { ExpiryCause } from "./expiry-cause.ts";
import type { Outcome } from "./outcome.ts";

type Unfound = Exclude<MessageFinding, { readonly kind: "found" }>;

/** When a message expired, and for how long afterwards the nodes' history is relied on. Milliseconds. */
interface ExpiryTimes {
  readonly expiresAtMs: number;
  readonly nowMs: number;
  readonly historyMs: number;
}

/**
 * The outcome of a message whose followed signatures have all expired, by what its wallet's history says:
 *
 * - nothing can be said if it is older than the nodes' history is relied on, or older than their memory while their history
 *   does not reach back to the build;
 * - expired and safe to rebuild if the history lacks the message under any signature;
 * - expired for what was submitted here, if no node serves the history.
 */
export function expiredOutcome(
  signature: string,
  finding: Unfound,
  { cause, ...times }: ExpiryTimes & { readonly cause: ExpiryCause },
): Outcome {
  const ageMs = Math.max(finding.sinceMs, times.nowMs - times.expiresAtMs);
  const reachesBack = finding.kind === "absent" && finding.reachesBack;
  if (ageMs > times.historyMs || !(finding.isRemembered || reachesBack)) return unknown(signature);
  if (finding.kind === "unserved") return expiredHere(signature, cause);
  return {
    kind: "failed",
    code: "TX_EXPIRED",
    message:
      "The transaction can no longer land: its blockhash has expired and its message is in no block, under whatever signature. Build the trade again.",
    facts: { safeToRebuild: true, details: { signature, scope: "message", witnesses: finding.witnesses, ...cause } },
  };
}

function expiredHere(signature: string, cause: ExpiryCause): Outcome {
  return {
    kind: "failed",
    code: "TX_EXPIRED",
    message:
      "The transaction can no longer land: its blockhash has expired and it is in no block. This holds for what was submitted here: no node shows the wallet's history, so if the message was signed again and sent elsewhere, it may have landed. Check the wallet before building again.",
    facts: { safeToRebuild: false, details: { signature, scope: "submitted", ...cause } },
  };
}

function unknown(signature: string): Outcome {
  return {
    kind: "failed",
    code: "OUTCOME_UNKNOWN",
    message:
      "The transaction can no longer land, but it is too old to tell whether it has landed. Check the wallet before building again.",
    facts: { safeToRebuild: false, details: { signature } },
  };
}
