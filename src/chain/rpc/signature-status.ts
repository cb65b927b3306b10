import { asContext, asInteger, asListOf, asRecord, asTransactionError } from "./rpc-values.ts";

/** Upper bound of signatures in one getSignatureStatuses call, set by the nodes. */
export const MAX_SIGNATURES_PER_CALL = 256;

/** A node's report on a signature that is in a block. */
export interface SignatureStatus {
  readonly slot: bigint;
  /** The transaction's error as the chain writes it; null if it succeeded. */
  readonly error: unknown | null;
  readonly commitment: "processed" | "confirmed" | "finalized";
}

/**
 * The slot of an answer to getSignatureStatuses and its entries, for `decodeStatus`.
 *
 * @param count how many signatures were asked for
 * @throws TradewireError UPSTREAM_ERROR, also for another number of entries: a missing one does not say that the node lacks a transaction
 */
export function asStatuses(
  answer: unknown,
  count: number,
): { readonly slot: bigint; readonly entries: readonly unknown[] } {
  const { slot, value } = asContext(answer, "signature statuses");
  const entries = asListOf(count, value, "signature statuses");
  return { slot, entries };
}

/** Decodes one entry of getSignatureStatuses; null if the node does not know the signature. @throws TradewireError UPSTREAM_ERROR */
export function decodeStatus(value: unknown): SignatureStatus | null {
  if (value === null) return null;
  const { slot, err, confirmationStatus } = asRecord(value, "a signature status");
  return {
    slot: asInteger(slot, "a signature status"),
    error: asTransactionError(err, "a signature status"),
    commitment:
      confirmationStatus === "finalized" || confirmationStatus === "confirmed" ? confirmationStatus : "processed",
  };
}
