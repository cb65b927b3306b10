import type { SubmissionClaim } from "../../src/accounts/port.ts";

/** The claim of a message that an account submitted at the beginning of time. */
export const claimOf = (messageHash: string): SubmissionClaim => ({
  messageHash,
  signature: `signature-of-${messageHash}`,
  accountId: "acc_1",
  submissionToken: "token",
  transaction: Uint8Array.of(1),
  lastValidBlockHeight: 100n,
  claimedAtMs: 1_000,
});
