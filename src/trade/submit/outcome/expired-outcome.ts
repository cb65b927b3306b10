import type { MessageFinding } from "../../../chain/port.ts";
import { MAX_SIGNATURES } from "../attempt/broadcast.ts";
import type { Diagnosis } from "../diagnosis/diagnosis.ts";
import { isOfMessage, type Outcome } from "./outcome.ts";

type Unfound = Exclude<MessageFinding, { readonly kind: "found" }>;

/** When a message expired, and for how long afterwards the nodes' history is relied on. Milliseconds. */
interface ExpiryTimes {
  readonly expiresAtMs: number;
  readonly nowMs: number;
  readonly historyMs: number;
}

/** Why a message expired, and the signatures for which that is known. */
interface ExpiryGrounds {
  readonly cause: Diagnosis;
  readonly signatures: readonly string[];
}

/**
 * The outcome of a message whose followed signatures have all expired, judged by its wallet's history:
 *
 * - unknown if it is older than the time for which the nodes' history is relied on, or older than their memory while their history does not
 *   reach back to the build;
 * - expired and safe to rebuild if the history, back to the build, lacks the message under any signature;
 * - expired for what was submitted here, if no node serves the history, or none that reaches back.
 */
export function expiredOutcome(
  signature: string,
  finding: Unfound,
  { cause, signatures, ...times }: ExpiryTimes & ExpiryGrounds,
): Outcome {
  const ageMs = Math.max(finding.sinceMs, times.nowMs - times.expiresAtMs);
  const isWhole = isProof(finding);
  if (ageMs > times.historyMs || !(finding.isRemembered || isWhole)) return unknown(signature, signatures);
  if (!isWhole) return expiredHere(signature, { cause, signatures });
  return {
    kind: "failed",
    code: "TX_EXPIRED",
    message:
      "The transaction can no longer land: its blockhash has expired and its message is in no block, under whatever signature. Build the trade again.",
    facts: {
      safeToRebuild: true,
      details: { signature, scope: "message", witnesses: finding.witnesses, ...factsOf(cause) },
    },
  };
}

/** True if a history shows the message under no signature at all: a history that begins after the build may have missed it. */
export function isProof(
  finding: MessageFinding,
): finding is Extract<MessageFinding, { readonly kind: "absent" }> & { readonly reachesBack: true } {
  return finding.kind === "absent" && finding.reachesBack;
}

/**
 * The signatures that an outcome speaks of, if it does not hold for the whole message. Outcomes of earlier releases name one: the others are
 * looked for again.
 */
export function signaturesIn(outcome: Outcome): readonly string[] {
  const { signature, signatures = signature } = (outcome.kind === "failed" && outcome.facts.details) || {};
  return [...`${signatures ?? ""}`.split(", "), ...untoldIn(outcome)];
}

/** Those of an expired message that were too old to tell when they were submitted. */
function untoldIn(outcome: Outcome): readonly string[] {
  const { untold } = (outcome.kind === "failed" && outcome.facts.details) || {};
  return untold === undefined ? [] : `${untold}`.split(", ");
}

/**
 * Whether nothing more is looked for of these signatures of a message: an expiry may have been proven for others alone. If it was for as many
 * as are followed, it ends there, since a wallet can sign the message without end: see `outcomeFor`.
 */
export function holdsFor(outcome: Outcome, signatures: readonly string[]): boolean {
  if (isOfMessage(outcome)) return true;
  const covered = signaturesIn(outcome);
  return covered.length >= MAX_SIGNATURES || signatures.every((signature) => covered.includes(signature));
}

/**
 * An outcome as the end of one signature: an expiry of another one does not say how it ended if it was too old to tell, or signed more often
 * than is followed.
 */
export function outcomeFor(outcome: Outcome, signature: string): Outcome {
  if (isOfMessage(outcome)) return outcome;
  if (untoldIn(outcome).includes(signature)) return unknown(signature, [signature]);
  const covered = signaturesIn(outcome);
  return covered.length < MAX_SIGNATURES || covered.includes(signature) ? outcome : unfollowed(signature);
}

/** True if an outcome says the same of more signatures than the stored one. */
export function coversMore(outcome: Outcome, stored: Outcome): boolean {
  if (outcome.kind === "landed" || stored.kind === "landed" || outcome.code !== stored.code) return false;
  return holdsFor(outcome, signaturesIn(stored)) && !holdsFor(stored, signaturesIn(outcome));
}

/**
 * The stored end of a message in no block with the signatures that a later outcome says otherwise of: it goes on to hold for its own. Beside
 * an expiry they are too old to tell; what was too old to tell says so of them too. Undefined if the two outcomes are others, or if the
 * stored one speaks of all signatures.
 */
export function withOthers(stored: Outcome, later: Outcome): Outcome | undefined {
  if (stored.kind === "landed" || later.kind === "landed") return undefined;
  const isExpiry = stored.code === "TX_EXPIRED" && later.code === "OUTCOME_UNKNOWN";
  if (!isExpiry && !(stored.code === "OUTCOME_UNKNOWN" && later.code === "TX_EXPIRED")) return undefined;
  if (holdsFor(stored, signaturesIn(later))) return undefined;
  const untold = untoldIn(stored);
  const own = signaturesIn(stored).filter((signature) => !untold.includes(signature));
  const others = new Set([...untold, ...signaturesIn(later).filter((signature) => !own.includes(signature))]);
  const { facts } = stored;
  const named = isExpiry ? { untold: [...others].join(", ") } : several([...own, ...others]);
  return { ...stored, facts: { ...facts, details: { ...facts.details, ...named } } };
}

/** Names the signatures if there are several. */
const several = (signatures: readonly string[]) => (signatures.length > 1 ? { signatures: signatures.join(", ") } : {});

function expiredHere(signature: string, { cause, signatures }: ExpiryGrounds): Outcome {
  return {
    kind: "failed",
    code: "TX_EXPIRED",
    message:
      "The transaction can no longer land: its blockhash has expired and it is in no block. This holds for what was submitted here: no node shows the wallet's history back to the build, so if the message was signed again and sent elsewhere, it may have landed. Check the wallet before building again.",
    facts: {
      safeToRebuild: false,
      details: { signature, scope: "submitted", ...several(signatures), ...factsOf(cause) },
    },
  };
}

/** Why it expired, as facts of the error. */
function factsOf({ cause, sure, evidence, remedy, others }: Diagnosis) {
  return { diagnosis: cause, sure, evidence, remedy, others: others.join(", ") };
}

/** Why a message expired, from the facts in its outcome; undefined for another failure or an outcome of an earlier release. */
export function diagnosisIn({ code, facts }: Extract<Outcome, { readonly kind: "failed" }>): Diagnosis | undefined {
  const { diagnosis, sure, evidence, remedy, others } = facts.details ?? {};
  if (code !== "TX_EXPIRED" || diagnosis === undefined || sure === undefined) return undefined;
  const named = others === "" ? [] : String(others).split(", ");
  return { cause: diagnosis, sure, evidence, remedy, others: named } as Diagnosis;
}

function unfollowed(signature: string): Outcome {
  return {
    kind: "failed",
    code: "OUTCOME_UNKNOWN",
    message: `The transaction can no longer land, but whether it has is not known: its message has expired under ${MAX_SIGNATURES} other signatures, and no more are looked for. Check the wallet before building again.`,
    facts: { safeToRebuild: false, details: { signature } },
  };
}

function unknown(signature: string, signatures: readonly string[]): Outcome {
  return {
    kind: "failed",
    code: "OUTCOME_UNKNOWN",
    message:
      "The transaction can no longer land, but it is too old to tell whether it has landed. Check the wallet before building again.",
    facts: { safeToRebuild: false, details: { signature, ...several(signatures) } },
  };
}
