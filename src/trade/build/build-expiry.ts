import type { ChainHead } from "../../chain/port.ts";

/** Longest validity promised to a caller. Milliseconds. */
const MAX_VALIDITY_MS = 30_000;

/**
 * When a built trade expires, in whole epoch milliseconds, rounded down: `marginMs` before the last block that can hold it,
 * at the measured pace; not before `nowMs`, and at most 30 seconds after it.
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
