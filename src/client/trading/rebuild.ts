import type { BuiltResponse } from "../answers/answers.ts";
import { refuseUnknownKeys } from "../order/known-keys.ts";
import { REBUILD_KEYS, type RebuildPolicy } from "../order/options.ts";
import { rest } from "../proof/pause.ts";
import type { TradeNode } from "../proof/trade-node.ts";
import { TradeError } from "../trade-error.ts";
import { isShare, type TradeOrder } from "../verify/trade-expectation.ts";

/** @throws TypeError for a policy with an unknown key, or with a bound on the price that bounds nothing */
export function checkRebuild(rebuild: RebuildPolicy | undefined): void {
  refuseUnknownKeys(rebuild, REBUILD_KEYS, "rebuild");
  if (rebuild === undefined || (typeof rebuild.maxPriceMove === "number" && rebuild.maxPriceMove < 1)) return;
  throw new TypeError(`rebuild.maxPriceMove is a fraction below 1: 0.01 is 1 %, not ${String(rebuild.maxPriceMove)}.`);
}

/**
 * Checks that the price of a rebuild is at most this fraction worse than the price of the first build. An exact amount is the
 * order's, not the response's: with a smaller one in its place, any price could be shown.
 * @param order what both were built for; undefined if this client built neither @throws TradeError PRICE_MOVED
 */
export function checkPriceMove(
  order: TradeOrder | undefined,
  first: BuiltResponse,
  next: BuiltResponse,
  maxPriceMove: number,
  signature: string,
): void {
  const isTyped = order !== undefined && !isShare(order);
  const price = ({ estimates }: BuiltResponse) => {
    const input = Number(estimates?.inputAmountRaw);
    const output = Number(estimates?.outputAmountRaw);
    if (!isTyped) return output / input;
    return order.swapMode === "exactIn" ? output : 1 / input;
  };
  if (price(next) >= price(first) * (1 - maxPriceMove)) return;
  throw new TradeError(
    "PRICE_MOVED",
    `The service reports that the transaction ${signature} expired, and the price is now worse by more than ${maxPriceMove}. The rebuilt transaction was not signed.`,
    { safeToRebuild: true, signature },
  );
}

/** How long to wait for the node to see the transaction expire, and between two questions. Milliseconds. */
const EXPIRY_PATIENCE_MS = 60_000;
const EXPIRY_PAUSE_MS = 500;

/**
 * Waits until the caller's node has seen the transaction expire; without a node, the service's word counts.
 * @param sinceSlot the slot of the node's check of this transaction
 * @param nowMs a monotonic clock
 * @throws TradeError with the signature, if it landed after all or the node has not seen it expire in time
 */
export async function awaitExpiry(
  node: TradeNode | undefined,
  signed: Uint8Array,
  signature: string,
  sinceSlot: number | undefined,
  signal: AbortSignal,
  nowMs: () => number,
): Promise<void> {
  if (node === undefined || sinceSlot === undefined) return;
  const until = nowMs() + EXPIRY_PATIENCE_MS;
  for (;;) {
    const verdict = await node.verdict(signed, signature, sinceSlot, signal);
    if (verdict === "expired") return;
    if (verdict === "landed" || nowMs() > until) {
      const seen = verdict === "landed" ? "has it on the chain" : "has not seen it expire";
      throw new TradeError(
        "UNEXPECTED_ANSWER",
        `The service says that ${signature} expired, but your node ${seen}. It was not built again.`,
        { signature },
      );
    }
    await rest(EXPIRY_PAUSE_MS, signal);
  }
}
