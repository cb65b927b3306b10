import type { LandingOutcome } from "../../../chain/port.ts";
import { programsOf } from "../../../solana/message/message-programs.ts";
import { wireLayout } from "../../../solana/message.ts";
import type { Venue } from "../../../venues/venue.ts";
import type { SealedTrade } from "../../build/token/sealed-trade.ts";
import { failedOutcome } from "./landed-failure.ts";
import type { Outcome } from "./outcome.ts";
import { readReceipt } from "./receipt.ts";

type Landed = Extract<LandingOutcome, { readonly kind: "landed" }>;

/** The outcome of a landing for the caller: amounts and costs, or why it failed. */
export function readOutcome(
  venues: readonly Venue[],
  sealed: SealedTrade,
  { signature, transaction }: { readonly signature: string; readonly transaction: Uint8Array },
  landed: Landed,
): Outcome {
  const { record, witnesses } = landed;
  if (record.error !== null) {
    const programs = programsOf(wireLayout(transaction).message);
    return failedOutcome({ signature, programs }, landed, venues, sealed);
  }
  const { result, costs } = readReceipt(sealed, record);
  // Never "finalized": processes that see it land at different times must write the same. Reading an outcome adds that.
  return { kind: "landed", slot: record.slot, status: "confirmed", result, costs, witnesses };
}
