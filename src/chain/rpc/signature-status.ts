import { asInteger, asRecord, asTransactionError } from "./rpc-values.ts";

/** Upper bound of signatures in one getSignatureStatuses call, set by the nodes. */
export const MAX_SIGNATURES_PER_CALL = 256;

/** A node's report on a signature that is in a block. */
export interface SignatureStatus {
  readonly slot: bigint;
  /** The transaction's error as the chain writes it; null if it succeeded. */
  readonly error: unknown | null;
  readonly commitment: "processed" | "confirmed" | "finalized";
}

/** Decodes one entry of getSignatureStatuses; null if the node does not know the signature. @throws TradewireError UPSTREAM_ERROR */
export function decodeStatus(value: unknown): SignatureStatus | null {
  if (value === null || value === undefined) return null;
  const { slot, err, confirmationStatus } = asRecord(value, "a signature status");
  return {
    slot: asInteger(slot, "a signature status"),
    error: asTransactionError(err, "a signature status"),
    commitment:
      confirmationStatus === "finalized" || confirmationStatus === "confirmed" ? confirmationStatus : "processed",
  };
}
