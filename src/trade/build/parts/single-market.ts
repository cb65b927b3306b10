import type { Lifetime } from "../../../chain/port.ts";
import type { PairMarkets } from "../../../market/port.ts";
import type { ChainClock } from "../../../solana/account.ts";
import { bestRoute, onlyRoute, routesAbove } from "../../quote/pricing/price-routes.ts";
import type { Route } from "../../quote/route.ts";
import { UNBOUNDED } from "../../quote/route-bounds.ts";
import { hasOneWay } from "../../quote/snapshot.ts";
import { mayGain } from "../../quote/split/may-gain.ts";
import type { DraftPorts, TradeDraft } from "../draft-trade.ts";
import type { LoadedTrade } from "../load-trade.ts";
import { type ComposedMessage, composeMessage, type MessageTerms } from "../message-forms.ts";
import { leastCostly, mayCostMore } from "../net-value.ts";

/**
 * Drafts a trade whose best route is one market of its pair and that has no route through a hub, as is the case for most: there is nothing
 * to divide or to search. The result is that of `draftTrade`, at less cost.
 *
 * @param nonce a number that differs between builds, below 2^14
 * @returns undefined for any other trade, and if the markets refuse this one; a draft whose message does not fit if none fits into a
 * transaction
 */
export function draftSingleMarket(
  ports: DraftPorts,
  loaded: LoadedTrade,
  lifetime: Lifetime,
  nonce: number,
): TradeDraft | undefined {
  const { request, intent, accounts, snapshot } = loaded;
  if (intent.requireChecked === true || intent.bounds?.allows !== undefined) return undefined;
  const clock = ports.head.clock();
  const route = singleRoute(loaded, clock);
  if (route === undefined) return undefined;
  const choice = ports.senders.choose(request.priority, nonce);
  const terms: MessageTerms = {
    request,
    intent,
    accounts,
    snapshot,
    blockhash: lifetime.blockhash,
    nonce,
    seed: ports.nextSeed(),
    choice,
  };
  const composed = composeMessage(ports, terms, route);
  const isSettled =
    !composed.fits || composed.unknown.length > 0 || hasOneWay(snapshot) || !mayCostMore(composed, accounts);
  const best = isSettled ? composed : cheapestOf(ports, terms, composed, route, clock);
  return { loaded, composed: best, lifetime, senders: choice.senders, fitLoss: 0, unknown: best.unknown };
}

/** The message that leaves the wallet the most: this one, or that of another market of the pair. */
function cheapestOf(
  ports: DraftPorts,
  terms: MessageTerms,
  composed: ComposedMessage,
  route: Route,
  clock: ChainClock,
): ComposedMessage {
  const { intent, snapshot } = terms;
  const { hot } = route.steps[0]!;
  const othersAbove = (value: bigint) => routesAbove(intent, snapshot.direct, { hot, value }, clock);
  return leastCostly(ports, terms, composed, othersAbove, clock);
}

/** The route over one market, if no other kind may be better. */
function singleRoute({ intent, snapshot }: LoadedTrade, clock: ChainClock): Route | undefined {
  const { direct, hubs } = snapshot;
  const [first] = direct.markets;
  if (first === undefined) return undefined;
  if (hasOneWay(snapshot)) return onlyRoute(intent, first, clock);
  return hubs.length === 0 ? bestAlone(intent, direct, clock) : undefined;
}

/** The best of several markets, if dividing the trade between them cannot gain. */
function bestAlone(intent: LoadedTrade["intent"], direct: PairMarkets, clock: ChainClock): Route | undefined {
  const route = bestRoute(intent, direct, clock);
  const { maxPaths, maxLegs } = intent.bounds ?? UNBOUNDED;
  if (route === undefined || maxPaths < 2) return route;
  const crossings = [{ from: intent.inMint.address, to: intent.outMint.address, pair: direct }];
  const terms = { inAmount: Number(route.inAmount), maxLegs, maxPaths, clock };
  return mayGain(intent, crossings, route, terms) ? undefined : route;
}
