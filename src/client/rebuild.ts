import type { BuiltResponse } from "./options.ts";
import { TradeError } from "./trade-error.ts";

/**
 * Checks that the price of a rebuild is at most this fraction worse than the price of the first build.
 * @throws TradeError PRICE_MOVED
 */
export function checkPriceMove(
  first: BuiltResponse,
  next: BuiltResponse,
  maxPriceMove: number,
  signature: string,
): void {
  const price = ({ estimates }: BuiltResponse) =>
    Number(estimates?.outputAmountRaw) / Number(estimates?.inputAmountRaw);
  if (price(next) >= price(first) * (1 - maxPriceMove)) return;
  throw new TradeError(
    "PRICE_MOVED",
    `The service reports that the transaction ${signature} expired, and the price is now worse by more than ${maxPriceMove}. The rebuilt transaction was not signed.`,
    { safeToRebuild: true, signature },
  );
}
