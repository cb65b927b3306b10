import type { TransactionRecord } from "../../../chain/port.ts";
import type { ErrorCode } from "../../../errors/error-codes.ts";
import type { Venue } from "../../../venues/venue.ts";
import type { Outcome } from "./outcome.ts";
import { classifyFailure, parseProgramFailure } from "./program-failure.ts";

const MEANING: Partial<Record<ErrorCode, string>> = {
  SLIPPAGE_EXCEEDED: "The price moved beyond the slippage tolerance before the transaction landed",
  INSUFFICIENT_LIQUIDITY: "The market could no longer fill the trade when the transaction landed",
  INSUFFICIENT_SOL: "The wallet had too little SOL when the transaction landed",
  INSUFFICIENT_TOKEN_BALANCE: "The wallet had too few tokens when the transaction landed",
  NO_ROUTE: "The market was closed when the transaction landed",
  VENUE_DEGRADED: "The venue's program did not accept the accounts of the transaction",
  PROGRAM_ERROR: "The program refused the transaction",
};

/**
 * The outcome of a transaction that landed and failed, by the deepest failing program in its logs. Without a record only
 * the chain's own error is known: INSUFFICIENT_SOL or PROGRAM_ERROR.
 */
export function failedOutcome(
  landed: { readonly signature: string; readonly slot: bigint; readonly error: unknown },
  record: TransactionRecord | null,
  venues: readonly Venue[],
): Outcome {
  const failure = record === null ? undefined : parseProgramFailure(record.logs);
  const reason = failure === undefined ? codeOfRuntimeError(landed.error) : classifyFailure(failure, venues);
  // A landed trade is final: a retryable code would make the caller wait for nothing.
  const code = reason === "VENUE_DEGRADED" ? "PROGRAM_ERROR" : reason;
  return {
    kind: "failed",
    code,
    message: `${MEANING[reason]}; nothing was traded, and only the network fees were paid. Build the trade again.`,
    facts: {
      safeToRebuild: true,
      details: {
        signature: landed.signature,
        slot: Number(landed.slot),
        error: JSON.stringify(landed.error),
        ...(reason === code ? {} : { reason }),
        ...(failure === undefined ? {} : { program: failure.program }),
        ...(failure?.number === undefined ? {} : { code: failure.number }),
        ...(failure?.name === undefined ? {} : { name: failure.name }),
      },
    },
  };
}

/** The code of an error of the runtime itself, before or after the programs ran. */
function codeOfRuntimeError(error: unknown): ErrorCode {
  const text = JSON.stringify(error) ?? "";
  return /InsufficientFundsFor(Rent|Fee)|AccountNotFound/.test(text) ? "INSUFFICIENT_SOL" : "PROGRAM_ERROR";
}
