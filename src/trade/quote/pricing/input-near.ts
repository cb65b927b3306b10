import type { PairMarkets } from "../../../market/port.ts";
import type { ChainClock } from "../../../solana/account.ts";
import type { Intent } from "../../intent.ts";
import { orderRoutes } from "../route-order.ts";
import type { MintCrossing } from "../split/network.ts";
import { type HubMarkets, priceRoutes } from "./price-routes.ts";
import { threeLegRoutes } from "./three-legs.ts";

/** Parts of an exact output to price: of up to four paths, one gives at least a quarter. */
const PARTS = [2n, 4n] as const;

interface SingleMarkets {
  readonly direct: PairMarkets;
  readonly hubs: readonly HubMarkets[];
  readonly between?: readonly MintCrossing[];
}

/**
 * Estimates the input of a trade that no single path can make. For an exact output: the input of a part that one path can give, times the
 * number of parts. Base units; undefined if no path gives a part either.
 */
export function inputNear(
  intent: Intent,
  { direct, hubs, between = [] }: SingleMarkets,
  clock: ChainClock,
): bigint | undefined {
  if (intent.mode === "exactIn") return intent.amount;
  for (const parts of PARTS) {
    const part = { ...intent, amount: intent.amount / parts };
    if (part.amount === 0n) return undefined;
    const { routes } = priceRoutes(part, direct, hubs, clock);
    const [best] = orderRoutes(part, [...routes, ...threeLegRoutes(part, hubs, between, clock)], clock);
    if (best !== undefined) return best.inAmount * parts;
  }
  return undefined;
}
