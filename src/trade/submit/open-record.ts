import type { SubmissionClaim, SubmissionRecord } from "../../accounts/port.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { equalBytes } from "../../primitives/bytes.ts";
import type { SealedTrade } from "../build/token/sealed-trade.ts";
import type { TokenSealer } from "../build/token/submission-token.ts";

/**
 * What was sealed at the build of a recorded submission. A token is authentic or does not open, so it alone decides what the record's
 * message is.
 *
 * @throws TradewireError INTERNAL_ERROR if the token does not open, or is another message's, which is no fault of the caller
 */
export function openRecord(
  sealer: Pick<TokenSealer, "open">,
  { submissionToken, accountId, messageHash }: Pick<SubmissionRecord, "submissionToken" | "accountId" | "messageHash">,
): SealedTrade {
  const sealed = openToken(sealer, submissionToken, accountId);
  if (!equalBytes(sealed.messageHash, Buffer.from(messageHash, "hex"))) {
    throw new TradewireError(
      "INTERNAL_ERROR",
      "The record of this trade is damaged: its token is that of another one. Submit the signed transaction again with its own token: that is always safe, and answers how it ended.",
    );
  }
  return sealed;
}

function openToken(sealer: Pick<TokenSealer, "open">, submissionToken: string, accountId: string): SealedTrade {
  try {
    return sealer.open(submissionToken, accountId);
  } catch (cause) {
    throw new TradewireError(
      "INTERNAL_ERROR",
      "The record of this trade cannot be read: its token opens with none of TOKEN_KEYS. A key was removed too early, or the record is damaged. The list of trades shows how it ended.",
      { cause },
    );
  }
}

/**
 * True if a record is that of another build of this message. Two builds of equal trades may be the same bytes by chance: the chain
 * executes them once, so only one of them traded. A token that does not open, or that is another message's, shows a damaged record
 * and no other build.
 */
export function isOtherBuild(
  sealer: Pick<TokenSealer, "open">,
  claim: Pick<SubmissionClaim, "submissionToken" | "accountId" | "messageHash">,
  { submissionToken }: Pick<SubmissionRecord, "submissionToken">,
): boolean {
  if (submissionToken === claim.submissionToken) return false;
  try {
    openRecord(sealer, { ...claim, submissionToken });
    return true;
  } catch {
    return false;
  }
}
