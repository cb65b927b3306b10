import { asInteger, asRecord } from "./rpc-values.ts";

/** What a node knows of a signature that is in a block. */
export interface SignatureStatus {
  readonly slot: bigint;
  /** The transaction's error as the chain writes it; null when it succeeded. */
  readonly error: unknown | null;
  readonly commitment: "processed" | "confirmed" | "finalized";
}

/** One entry of getSignatureStatuses; null when the node knows nothing. @throws TradewireError UPSTREAM_ERROR */
export function decodeStatus(value: unknown): SignatureStatus | null {
  if (value === null || value === undefined) return null;
  const { slot, err, confirmationStatus } = asRecord(value, "a signature status");
  return {
    slot: asInteger(slot, "a signature status"),
    error: err ?? null,
    commitment:
      confirmationStatus === "finalized" || confirmationStatus === "confirmed" ? confirmationStatus : "processed",
  };
}
