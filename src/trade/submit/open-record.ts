import type { SubmissionRecord } from "../../accounts/port.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { equalBytes } from "../../primitives/bytes.ts";
import type { SealedTrade } from "../build/token/sealed-trade.ts";
import type { TokenSealer } from "../build/token/submission-token.ts";

/**
 * What was sealed at the build of a recorded submission. A token is authentic or does not open, so it alone decides what the record's
 * message is.
 *
 * @throws TradewireError INVALID_SUBMISSION_TOKEN if the token does not open; INTERNAL_ERROR if it is another message's
 */
export function openRecord(
  sealer: TokenSealer,
  { submissionToken, accountId, messageHash }: Pick<SubmissionRecord, "submissionToken" | "accountId" | "messageHash">,
): SealedTrade {
  const sealed = sealer.open(submissionToken, accountId);
  if (!equalBytes(sealed.messageHash, Buffer.from(messageHash, "hex"))) {
    throw new TradewireError(
      "INTERNAL_ERROR",
      "The record of this trade is damaged: its token is that of another one. Submit the signed transaction again with its own token: that is always safe, and answers how it ended.",
    );
  }
  return sealed;
}
