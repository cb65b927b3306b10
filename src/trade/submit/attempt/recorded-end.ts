import type { SignedForm, SubmissionRecord } from "../../../accounts/port.ts";
import { coversMore, withOthers } from "../outcome/expired-outcome.ts";
import { formatOutcome, type Outcome } from "../outcome/outcome.ts";
import { contradicts, storedOutcome } from "../outcome/stored-outcome.ts";

/** How a message ended, and under which signature. */
export interface RecordedEnd extends SignedForm {
  readonly outcome: Outcome;
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
  if (standing.outcome === formatOutcome(outcome)) return { end: { ...own, outcome: stored }, isNew: false };
  // An end that was undone was corrected for good.
  if (standing.isFinalized) return { end: { ...standing, outcome: stored }, isNew: false };
  const joined = withOthers(stored, outcome);
  if (joined !== undefined) return { end: { ...standing, outcome: joined }, isNew: true };
  // What the chain has shown replaces an expiry, and what is known of more signatures what is known of fewer.
  if (contradicts(outcome, stored) || coversMore(outcome, stored)) return { end: own, isNew: true };
  return { end: { ...standing, outcome: stored }, isNew: false };
}
