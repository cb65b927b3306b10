import type { LandingOutcome, TransactionReader, TransactionRecord } from "../../../chain/port.ts";
import type { Venue } from "../../../venues/venue.ts";
import type { SealedTrade } from "../../build/sealed-trade.ts";
import { sleep } from "../waiting.ts";
import { failedOutcome } from "./landed-failure.ts";
import type { Outcome } from "./outcome.ts";
import { readReceipt } from "./receipt.ts";

/** A node may confirm a transaction some slots before it can serve its record. */
const RECORD_TRIES = 40;
const RECORD_RETRY_MS = 100;

/** What reading an outcome reads. */
export interface OutcomePorts {
  readonly transactions: TransactionReader;
  readonly venues: readonly Venue[];
}

/**
 * What a landing means for the caller: the amounts and costs of a trade that landed, or why it failed. Undefined while the
 * chain has not decided, and while a trade that landed has no record yet.
 */
export async function readOutcome(
  { transactions, venues }: OutcomePorts,
  sealed: SealedTrade,
  signature: string,
  landing: LandingOutcome,
): Promise<Outcome | undefined> {
  if (landing.kind === "pending") return undefined;
  if (landing.kind === "expired") return expired(signature);
  const { slot, error } = landing;
  const record = await fetchRecord(transactions, signature, slot);
  if (error != null) return failedOutcome({ signature, slot, error }, record, venues);
  if (record === null) return undefined;
  const { result, costs } = readReceipt(sealed, record);
  // Never "finalized": processes that see it land at different times must write the same. Reading an outcome adds that.
  return { kind: "landed", slot: record.slot, status: "confirmed", result, costs };
}

function expired(signature: string): Outcome {
  return {
    kind: "failed",
    code: "TX_EXPIRED",
    message:
      "The transaction can no longer land: its blockhash has expired and it is in no block. Build the trade again.",
    facts: { safeToRebuild: true, details: { signature } },
  };
}

/** The record of the transaction in this slot; one of another slot is not believed. */
async function fetchRecord(
  transactions: TransactionReader,
  signature: string,
  slot: bigint,
): Promise<TransactionRecord | null> {
  for (let tries = 0; tries < RECORD_TRIES; tries++) {
    const record = await transactions.fetchTransaction(signature).catch(() => null);
    if (record !== null && record.slot === slot) return record;
    await sleep(RECORD_RETRY_MS);
  }
  return null;
}
