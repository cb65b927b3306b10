import { UnexpectedTransactionError } from "./problem.ts";
import { type LookupTables, type ReadTransaction, readTransaction } from "./read-transaction.ts";
import type { TradeExpectation } from "./trade-expectation.ts";
import { findProblems } from "./verification.ts";

/** What verifying needs in addition to the transaction. */
export interface VerifyOptions {
  /** Contents of lookup tables, read from the chain by the caller. Without them a message that uses any is refused. */
  readonly lookupTables?: LookupTables | undefined;
}

/**
 * Verifies that an unsigned wire transaction is the expected trade and nothing else. Pure and offline.
 * @returns the decoded transaction
 * @throws UnexpectedTransactionError listing everything the trade does not explain; TradeError UNREADABLE_TRANSACTION
 */
export function verifyTransaction(
  wire: Uint8Array,
  expectation: TradeExpectation,
  options: VerifyOptions = {},
): ReadTransaction {
  const transaction = readTransaction(wire, options.lookupTables);
  const problems = findProblems(transaction, expectation);
  if (problems.length > 0) throw new UnexpectedTransactionError(problems);
  return transaction;
}
