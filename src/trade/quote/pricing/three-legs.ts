import type { ChainClock } from "../../../solana/account.ts";
import type { Intent } from "../../intent.ts";
import { type Candidate, rankMarkets } from "../ranking.ts";
import type { Route } from "../route.ts";
import type { MintCrossing } from "../split/network.ts";
import { realizePlan } from "../split/realize.ts";
import type { HubMarkets } from "./price-routes.ts";

/**
 * Routes over three markets, through two hubs: for each order of two hubs the best market of each pair at about the amount
 * that reaches it.
 */
export function threeLegRoutes(
  intent: Intent,
  hubs: readonly HubMarkets[],
  between: readonly MintCrossing[],
  clock: ChainClock,
): Route[] {
  const routes: Route[] = [];
  for (const crossing of between) {
    const first = hubs.find(({ hub }) => hub === crossing.from);
    const last = hubs.find(({ hub }) => hub === crossing.to);
    if (first === undefined || last === undefined) continue;
    const pairs = [first.toHub, crossing.pair, last.fromHub];
    if (pairs.some(({ markets }) => markets.length === 0)) continue;
    const route = bestChain(intent, crossing, [first, last], clock);
    if (route !== undefined) routes.push(route);
  }
  return routes;
}

function bestChain(
  intent: Intent,
  { from, to, pair }: MintCrossing,
  [first, last]: readonly [HubMarkets, HubMarkets],
  clock: ChainClock,
): Route | undefined {
  const { inMint, outMint, mode } = intent;
  const isTaxed = inMint.transferFees !== undefined || outMint.transferFees !== undefined;
  const rows = [
    { markets: first.toHub, inMint: inMint.address, outMint: from },
    { markets: pair, inMint: from, outMint: to },
    { markets: last.fromHub, inMint: to, outMint: outMint.address },
  ];
  const chosen: Candidate[] = [];
  let { amount } = intent;
  for (const row of mode === "exactIn" ? rows : rows.toReversed()) {
    const ask = { mode, inMint: row.inMint, outMint: row.outMint, amount, clock };
    const best = rankMarkets(row.markets, ask, isTaxed).candidates.find(
      ({ hot }) => !chosen.some((other) => other.hot.market.address === hot.market.address),
    );
    if (best === undefined) return undefined;
    chosen.push(best);
    amount = mode === "exactIn" ? best.quote.outAmount : best.quote.inAmount;
  }
  const plan = (mode === "exactIn" ? chosen : chosen.toReversed()).map(({ hot, quote }) => ({
    hot,
    inMint: quote.inMint,
    outMint: quote.outMint,
    weight: 1,
  }));
  const route = realizePlan(intent, plan, clock);
  return typeof route === "object" && "steps" in route ? route : undefined;
}
