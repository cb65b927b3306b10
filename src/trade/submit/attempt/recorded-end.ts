import type { SignedForm, SubmissionRecord } from "../../../accounts/port.ts";
import { coversMore, withOthers } from "../outcome/expired-outcome.ts";
import { agreeingOn, formatOutcome, type Outcome, slotOf } from "../outcome/outcome.ts";
import { contradicts, storedOutcome } from "../outcome/stored-outcome.ts";

/** How a message ended, and under which signature. */
export interface RecordedEnd extends SignedForm {
  readonly outcome: Outcome;
  /** The outcome as it is or will be on record. */
  readonly text: string;
}

/** The part of a record that says how its message ended. */
export type StandingEnd = Pick<SubmissionRecord, "signature" | "transaction" | "outcome" | "isFinalized">;

/** The end that is right beside one on record. */
interface RightEnd {
  readonly end: RecordedEnd;
  /** True if it takes the place of the one on record. */
  readonly isNew: boolean;
}

/** The end of a message that ended on record so, and as this process has seen it: the first stays, unless the other replaces or completes it. */
export function endBeside(standing: StandingEnd, own: RecordedEnd): RightEnd {
  const { outcome } = own;
  // An outcome under another signature than it names is answered by no process.
  const stored = storedOutcome(standing);
  if (stored === undefined) return { end: own, isNew: true };
  const isOneBlock = slotOf(outcome) !== undefined && slotOf(outcome) === slotOf(stored);
  // A block has a message once, under the signature that this process has seen there: that of a damaged record may be another.
  const { signature, transaction } = isOneBlock ? own : standing;
  const recorded = { signature, transaction, outcome: stored, text: standing.outcome! };
  // An end that was undone was corrected for good.
  if (standing.isFinalized) return { end: recorded, isNew: false };
  const joined = withOthers(stored, outcome);
  if (joined !== undefined) return { end: { ...recorded, outcome: joined, text: formatOutcome(joined) }, isNew: true };
  // What the chain has shown replaces an expiry, what is known of more signatures what is known of fewer, and the word of more nodes that of fewer.
  const hasMoreWitnesses = isOneBlock && agreeingOn(outcome) > agreeingOn(stored);
  const isRight = contradicts(outcome, stored) || coversMore(outcome, stored) || hasMoreWitnesses;
  return isRight ? { end: own, isNew: true } : { end: recorded, isNew: false };
}
