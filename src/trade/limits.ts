import { TradewireError } from "../errors/tradewire-error.ts";
import { formatAmount, limitUnits, SOL_DECIMALS } from "../primitives/amount.ts";
import type { Costs, TradeRequest } from "./trade.ts";

/** @throws TradewireError PRICE_IMPACT_TOO_HIGH if the price impact (a fraction) exceeds the caller's limit */
export function checkPriceImpact({ maxPriceImpact }: Pick<TradeRequest, "maxPriceImpact">, priceImpact: number): void {
  if (maxPriceImpact === undefined || priceImpact <= maxPriceImpact) return;
  throw new TradewireError(
    "PRICE_IMPACT_TOO_HIGH",
    `The trade moves the price by ${priceImpact}, more than maxPriceImpact ${maxPriceImpact}. Trade less, or raise maxPriceImpact.`,
    { details: { priceImpact } },
  );
}

/** @throws TradewireError PRIORITY_COST_TOO_HIGH if priority fee and tips together exceed the caller's limit */
export function checkPriorityCost(
  { maxPriorityCost, priority }: Pick<TradeRequest, "maxPriorityCost" | "priority">,
  costs: Costs,
): void {
  const paid = costs.priorityFee + costs.tip;
  if (maxPriorityCost === undefined || paid <= limitUnits(maxPriorityCost, SOL_DECIMALS)) return;
  throw new TradewireError(
    "PRIORITY_COST_TOO_HIGH",
    `Priority ${priority} costs ${formatAmount(paid, SOL_DECIMALS)} SOL now, more than maxPriorityCost ${maxPriorityCost}. Choose a lower priority, or raise maxPriorityCost.`,
    { details: { priorityCostLamports: paid.toString() } },
  );
}
