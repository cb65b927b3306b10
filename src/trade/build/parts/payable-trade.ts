import type { PairMarkets } from "../../../market/port.ts";
import type { Intent } from "../../intent.ts";
import type { Route } from "../../quote/route.ts";
import { UNBOUNDED } from "../../quote/route-bounds.ts";
import type { Shortfall } from "../balances.ts";
import type { LoadedTrade } from "../load-trade.ts";

/**
 * The trade over those markets alone over which a wallet may make it that cannot make it over the best route: one of the pair, which needs
 * no account between markets, or those that pay into an account that wants memos. Undefined if no other market helps.
 */
export function payableTrade(loaded: LoadedTrade, shortfall: Shortfall): LoadedTrade | undefined {
  const { intent, snapshot } = loaded;
  if (shortfall.kind === "sol" || shortfall.kind === "payer")
    return { ...loaded, intent: { ...intent, bounds: { ...(intent.bounds ?? UNBOUNDED), maxLegs: 1, maxPaths: 1 } } };
  if (shortfall.kind !== "account" || shortfall.mint.address !== intent.outMint.address) return undefined;
  const hubs = snapshot.hubs.map((hub) => ({ ...hub, fromHub: withMemos(hub.fromHub) }));
  return { ...loaded, snapshot: { ...snapshot, direct: withMemos(snapshot.direct), hubs } };
}

function withMemos({ markets, ...pair }: PairMarkets): PairMarkets {
  return {
    faults: pair.faults,
    searched: pair.searched,
    markets: markets.filter(({ venue }) => venue.supports.memo === true),
  };
}

/** True if a route gives no less, or takes no more, than the slippage lets the best one. */
export function isWithinSlippage({ mode }: Intent, route: Route, best: Route): boolean {
  return mode === "exactIn" ? route.outAmount >= best.threshold : route.inAmount <= best.threshold;
}
