import type { PairMarkets } from "../../src/market/port.ts";
import type { ChainClock } from "../../src/solana/account.ts";
import type { Intent } from "../../src/trade/intent.ts";
import { noRoute } from "../../src/trade/quote/no-route.ts";
import { type HubMarkets, priceRoutes } from "../../src/trade/quote/pricing/price-routes.ts";
import type { Route } from "../../src/trade/quote/route.ts";
import { orderRoutes } from "../../src/trade/quote/route-order.ts";

/** The routes of a trade over one market or two, best first. @throws TradewireError as `noRoute` if there is none */
export function chooseRoutes(
  intent: Intent,
  direct: PairMarkets,
  hubs: readonly HubMarkets[],
  clock: ChainClock,
): readonly Route[] {
  const { routes, refusals, faults } = priceRoutes(intent, direct, hubs, clock);
  if (routes.length === 0) throw noRoute(refusals, faults, direct.searched);
  return orderRoutes(intent, routes, clock);
}
