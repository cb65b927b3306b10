import type { LandingOutcome, TransactionRecord } from "../../../chain/port.ts";
import type { ErrorCode } from "../../../errors/error-codes.ts";
import type { Address } from "../../../primitives/address.ts";
import { SOL_MINT } from "../../../solana/programs.ts";
import type { Venue } from "../../../venues/venue.ts";
import type { Outcome } from "./outcome.ts";
import { arrivedSince, closedSince, heldBefore, type OwnTrade, quotedInput } from "./own-accounts.ts";
import {
  classifyFailure,
  failureOfInstruction,
  isCloseFailure,
  isGuardFailure,
  isOutOfUnits,
  type ProgramFailure,
  parseProgramFailure,
} from "./program-failure.ts";

const MEANING: Partial<Record<ErrorCode, string>> = {
  SLIPPAGE_EXCEEDED: "The price moved beyond the slippage tolerance before the transaction landed",
  INSUFFICIENT_LIQUIDITY: "The market could no longer fill the trade when the transaction landed",
  INSUFFICIENT_SOL: "The wallet had too little SOL when the transaction landed",
  INSUFFICIENT_TOKEN_BALANCE: "The wallet had too few tokens when the transaction landed",
  NO_ROUTE: "The market was closed when the transaction landed",
  VENUE_DEGRADED: "The venue's program did not accept the accounts of the transaction",
  PROGRAM_ERROR: "The program refused the transaction",
};
const NOT_CLOSED =
  "Tokens arrived in the account that this sale of all of them was to close, which only an empty one can be. A sale by amount leaves it open";
const CLOSED =
  "A token account of the wallet that the trade relied on had been closed when the transaction landed. The next build opens it";
const OUT_OF_UNITS = "The trade took more compute units than it asked for, as it may if the market has moved";

/** What was sent, as its bytes say: nodes need not agree on this. */
interface SentTransaction {
  readonly signature: string;
  /** The program of each instruction. */
  readonly programs: readonly Address[];
}

/**
 * The outcome of a transaction that landed and failed: by the guard of the total, else by the deepest failing program in its logs; if they
 * are cut, by the program of the instruction that failed; without one, by the chain's own error: INSUFFICIENT_SOL or PROGRAM_ERROR. A block
 * may contain a transaction whose payer cannot pay: it executes nothing, costs nothing, and its message is used up like any other
 * (SIMD-0290). If the wallet's other trades or strangers changed its own accounts meanwhile, it says so.
 *
 * @param trade what the build was for; absent: a lack of tokens is taken for the wallet's
 */
export function failedOutcome(
  { signature, programs }: SentTransaction,
  { record, witnesses }: Omit<Extract<LandingOutcome, { readonly kind: "landed" }>, "kind">,
  venues: readonly Venue[],
  trade?: OwnTrade,
): Outcome {
  const { slot, error, logs, feeLamports } = record;
  const failure = parseProgramFailure(logs) ?? failureOfInstruction(error, programs);
  const told = isGuardFailure(error, programs) ? "SLIPPAGE_EXCEEDED" : reasonOf(failure, error, venues);
  const isNotClosed = isCloseFailure(error, programs);
  const change = trade === undefined ? UNCHANGED : changeOf(told, trade, record, isNotClosed);
  const reason = change.code ?? told;
  const meaning = isNotClosed
    ? NOT_CLOSED
    : isOutOfUnits(error, logs)
      ? OUT_OF_UNITS
      : (change.meaning ?? MEANING[reason]);
  // A landed trade is final: a retryable code would make the caller wait for nothing.
  const code = reason === "VENUE_DEGRADED" ? "PROGRAM_ERROR" : reason;
  const paid = feeLamports === 0n ? "no fee was charged" : "only the network fees were paid";
  const details = {
    signature,
    slot: Number(slot),
    finalized: false,
    error: JSON.stringify(error),
    witnesses,
    ...(reason === code ? {} : { reason }),
    ...change.details,
    ...failedProgramFacts(failure),
  };
  const message = `${meaning}; nothing was traded, and ${paid}. Build the trade again.`;
  return { kind: "failed", code, message, facts: { safeToRebuild: true, details } };
}

/** The program that failed, with its error's number and name, as facts of the error; none if it is not known. */
function failedProgramFacts(failure: ProgramFailure | undefined) {
  if (failure === undefined) return {};
  const { program, number, name } = failure;
  return { program, ...(number === undefined ? {} : { code: number }), ...(name === undefined ? {} : { name }) };
}

/** What the wallet's own accounts say of a failure, in place of the program that failed. */
interface AccountChange {
  readonly code?: ErrorCode;
  readonly meaning?: string;
  readonly details?: Readonly<Record<string, string>>;
}

const UNCHANGED: AccountChange = {};

function changeOf(told: ErrorCode, trade: OwnTrade, record: TransactionRecord, isNotClosed: boolean): AccountChange {
  const { closes, inMint } = trade;
  if (isNotClosed && closes !== undefined) {
    const arrived = arrivedSince(trade, record);
    // Withheld fees keep an account open, too.
    return { details: { account: `${closes}`, ...(arrived > 0n && { arrivedRaw: arrived.toString() }) } };
  }
  if (told === "INSUFFICIENT_TOKEN_BALANCE") return hadInput(trade, record) ? { code: "SLIPPAGE_EXCEEDED" } : UNCHANGED;
  if (told !== "PROGRAM_ERROR" && told !== "VENUE_DEGRADED") return UNCHANGED;
  const [mint] = closedSince(trade, record);
  if (mint === undefined) return UNCHANGED;
  // Without an account of the input, the wallet has nothing to sell.
  if (mint === inMint) return { code: "INSUFFICIENT_TOKEN_BALANCE" };
  return { code: "PROGRAM_ERROR", meaning: CLOSED, details: { mint: `${mint}` } };
}

/**
 * True if the wallet had the whole input before the transaction, as quoted, or pays with SOL, which the transaction itself wraps. A swap
 * that lacks tokens then asks for more than it was quoted at: programs may pay before they compare with the bound, or look at the balance
 * first.
 */
function hadInput(trade: OwnTrade, record: TransactionRecord): boolean {
  return trade.inMint === SOL_MINT || heldBefore(trade.wallet, trade.inMint, record) >= quotedInput(trade);
}

function reasonOf(failure: ProgramFailure | undefined, error: unknown, venues: readonly Venue[]): ErrorCode {
  return failure === undefined ? codeOfRuntimeError(error) : classifyFailure(failure, venues);
}

/** The code of an error of the runtime itself, raised before or after the programs ran. */
function codeOfRuntimeError(error: unknown): ErrorCode {
  const text = JSON.stringify(error) ?? "";
  return /InsufficientFundsFor(Rent|Fee)|AccountNotFound/.test(text) ? "INSUFFICIENT_SOL" : "PROGRAM_ERROR";
}
