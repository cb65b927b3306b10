import type { ChainHead } from "../../chain/port.ts";

/** Longest validity told to a caller. Milliseconds. */
const MAX_VALIDITY_MS = 30_000;

/**
 * Until when a built trade may be sent (whole epoch milliseconds, rounded down): `marginMs` before the last block that can
 * hold it has passed, at the measured pace; never before now, and at most 30 seconds from now.
 */
export function buildExpiresAtMs(
  head: Pick<ChainHead, "heightAtMs">,
  lastValidBlockHeight: bigint,
  nowMs: number,
  marginMs: number,
): number {
  const landableMs = head.heightAtMs(lastValidBlockHeight + 1n) - nowMs - marginMs;
  return Math.floor(nowMs + Math.max(0, Math.min(landableMs, MAX_VALIDITY_MS)));
}
