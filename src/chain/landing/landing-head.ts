import { maxOf } from "../../primitives/integer.ts";
import type { SignatureStatus } from "../rpc/signature-status.ts";

/** What landing needs to know about the head of the chain. */
export interface LandingHead {
  blockHeight(): bigint;
  /** The height that is certainly reached; the estimated one may rest on one node's word. Absent: the same as that. */
  leastBlockHeight?(): bigint;
  slot(): bigint;
  slotMs(): number;
}

/** Blocks in which a message can land, counted back from its last valid one. */
export const LIFETIME_BLOCKS = 151n;
/** Upper bound of the error in estimated heights, in blocks. */
export const HEIGHT_TOLERANCE = 40n;

/** Upper bound of slots per block in the long run: a network in trouble has skipped half of its slots. */
const SKIPPED_PART = 2n;

/** False if the slot is outside the message's lifetime or ahead of the chain. */
export function isCredible(
  status: Pick<SignatureStatus, "slot">,
  lastValidBlockHeight: bigint,
  head: LandingHead,
): boolean {
  const slot = head.slot();
  // Assumes that no slot has been skipped since; too high by those that were.
  const height = status.slot - (slot - head.blockHeight());
  const tolerance = maxOf(HEIGHT_TOLERANCE, (slot - status.slot) / SKIPPED_PART);
  return (
    height <= lastValidBlockHeight + HEIGHT_TOLERANCE &&
    height >= lastValidBlockHeight - LIFETIME_BLOCKS - tolerance &&
    status.slot <= slot + HEIGHT_TOLERANCE
  );
}
