import type { SubmissionClaim } from "../../accounts/port.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { SealedTrade } from "../build/token/sealed-trade.ts";
import type { Attempt } from "./attempt/attempt.ts";
import type { Attempts } from "./attempts.ts";
import { sleep } from "./waiting.ts";

/** Longest wait for the database to show which of two builds holds their message. Milliseconds. */
const PROOF_WAIT_MS = 2_000;
/** Pause between looks. Milliseconds. */
const LOOK_MS = 10;

/** The refusal of a build whose message another build holds. Nothing of it was or will be executed, so it may be built again. */
export function takenByOtherBuild(): TradewireError {
  return new TradewireError(
    "CONFLICT_ERROR",
    "Another build of this wallet is the same transaction to the byte, and was submitted first: what the transaction trades is that build's trade. This build has traded nothing. Build again to trade once more.",
    { field: "submissionToken", safeToRebuild: true },
  );
}

/**
 * The attempt of the claim's message, once it is known to be this build's. Refusing a build is for ever, so the record has to show that the
 * message is another's.
 *
 * @throws TradewireError CONFLICT_ERROR if another build holds the message; UPSTREAM_ERROR if the database does not show which
 */
export async function attemptOfBuild(
  attempts: Pick<Attempts, "join" | "forgetEnd">,
  claim: SubmissionClaim,
  sealed: SealedTrade,
): Promise<Attempt> {
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    const attempt = attempts.join(claim, sealed);
    const isThisBuilds = attempt.claim.submissionToken === claim.submissionToken;
    if (isThisBuilds && !attempt.isTaken) return attempt;
    if (isThisBuilds || attempt.isOwn) throw takenByOtherBuild();
    // It ended before the database showed that the message is not its own.
    if (attempt.isTaken) attempts.forgetEnd(claim.messageHash);
    // It may have ended so long ago that its end is written no more; the answer shows whose the message is.
    else if (attempt.isSettled) void attempt.restoreOutcome();
    if (waitedMs >= PROOF_WAIT_MS) {
      throw new TradewireError(
        "UPSTREAM_ERROR",
        "Another build of this wallet is the same transaction to the byte, and the account database does not answer which of the two was submitted first. Submit the same bytes again.",
      );
    }
    await sleep(LOOK_MS);
  }
}
