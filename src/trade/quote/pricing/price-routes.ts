import type { TradewireError } from "../../../errors/tradewire-error.ts";
import type { HotMarket, MarketFault, PairMarkets } from "../../../market/port.ts";
import type { Address } from "../../../primitives/address.ts";
import { minOf } from "../../../primitives/integer.ts";
import { maximumIn, minimumOut, passingShare } from "../../../primitives/slippage.ts";
import type { ChainClock } from "../../../solana/account.ts";
import { isBetweenHubs } from "../../../solana/hub-mints.ts";
import type { Ask, Quote } from "../../../venues/venue.ts";
import type { Intent } from "../../intent.ts";
import type { Remainder } from "../../trade.ts";
import type { Leader } from "../bounds/leader.ts";
import { isSameMoment } from "../bounds/life.ts";
import { type Candidate, rankMarkets } from "../ranking.ts";
import type { Route, RouteStep } from "../route.ts";
import { leastPassed, quoteAfter, settlePair } from "./shared-state.ts";

/** The routes of a trade, best first, and what could not be priced and why. */
export interface Routes {
  readonly routes: readonly Route[];
  readonly faults: readonly MarketFault[];
}

/** The markets of the two halves of a route: from the input to a hub, and from there to the output. */
export interface HubMarkets {
  readonly hub: Address;
  readonly toHub: PairMarkets;
  readonly fromHub: PairMarkets;
}

const NO_REMAINDERS: readonly Remainder[] = [];

/** Which markets of each half of a hub route are combined. */
interface Halves {
  /** See `rankMarkets`. */
  readonly least?: number;
  /** Chosen of those of a half, the best first. */
  readonly chosen: (candidates: readonly Candidate[]) => readonly Candidate[];
}

/** Best markets combined per half of a hub route: the best pair may not fit into a transaction. */
const HALVES_TRIED = 2;
const BEST_HALVES: Halves = { chosen: (candidates) => candidates.slice(0, HALVES_TRIED) };

/** The best market of each venue: how much room a swap takes depends on its venue. */
const VENUE_HALVES: Halves = {
  least: Number.POSITIVE_INFINITY,
  chosen: (candidates) =>
    candidates.filter(({ hot }, at) => candidates.findIndex((other) => other.hot.venue.id === hot.venue.id) === at),
};

/**
 * Prices every route over one market, or over two through a hub; in no order.
 *
 * A route through a hub is limited as a whole: a small share of the slippage covers the amount between the markets, the
 * rest the caller's side. For exactIn, the second market sells the least that the first may yield; for exactOut, the first
 * buys the most that the second may take. What is left of the hub's mint stays with the wallet, as the route's remainder.
 *
 * @param least see `rankMarkets`
 */
export function priceRoutes(
  intent: Intent,
  direct: PairMarkets,
  hubs: readonly HubMarkets[],
  clock: ChainClock,
  least?: number,
): Routes & { readonly refusals: readonly TradewireError[] } {
  const ranking =
    least === 1
      ? rankBest(intent, direct, clock)
      : rankMarkets(direct, directAskOf(intent, clock), isTaxed(intent), least);
  const refusals = [...ranking.refusals];
  const faults = [...ranking.faults];
  const routes = ranking.candidates.map(({ hot, quote }) => routeOver(intent, hot, quote));
  for (const hub of hubs) {
    if (hub.toHub.markets.length === 0 || hub.fromHub.markets.length === 0) continue;
    routes.push(...hubRoutes(intent, hub, clock, refusals, faults));
  }
  return { routes, faults, refusals };
}

/** The routes through hubs over the best market of each venue, without reasons; in no order. */
export function hubRoutesByVenue(intent: Intent, hubs: readonly HubMarkets[], clock: ChainClock): readonly Route[] {
  return hubs
    .filter(({ toHub, fromHub }) => toHub.markets.length > 0 && fromHub.markets.length > 0)
    .flatMap((hub) => hubRoutes(intent, hub, clock, [], [], VENUE_HALVES));
}

/** The route over a market, without reasons: undefined if the market refuses the trade, or its code fails. */
export function onlyRoute(intent: Intent, hot: HotMarket, clock: ChainClock): Route | undefined {
  try {
    return routeOver(intent, hot, hot.venue.quote(hot.state, directAskOf(intent, clock)));
  } catch {
    return undefined;
  }
}

/** The best route over one market of a pair, without reasons: undefined if none makes the trade. */
export function bestRoute(intent: Intent, pair: PairMarkets, clock: ChainClock): Route | undefined {
  const [best] = rankBest(intent, pair, clock).candidates;
  return best === undefined ? undefined : routeOver(intent, best.hot, best.quote);
}

/**
 * The routes over one market of a pair that are worth more than `above`, best first, without reasons; only the most promising markets are
 * priced.
 */
export function routesAbove(intent: Intent, pair: PairMarkets, above: Leader, clock: ChainClock): readonly Route[] {
  return rankMarkets(pair, directAskOf(intent, clock), isTaxed(intent), 0, above)
    .candidates.map(({ hot, quote }) => routeOver(intent, hot, quote))
    .filter(({ value }) => (intent.mode === "exactIn" ? value > above.value : value < above.value));
}

interface BestRanking {
  readonly intent: Intent;
  readonly pair: PairMarkets;
  readonly clock: ChainClock;
  readonly ranking: ReturnType<typeof rankMarkets>;
}

/** The last of `rankBest`: a trade that may be divided asks for its best market alone twice in a row. */
let lastBest: BestRanking | undefined;

/** Ranks a pair for its best market alone. */
function rankBest(intent: Intent, pair: PairMarkets, clock: ChainClock): BestRanking["ranking"] {
  const last = lastBest;
  lastBest = undefined;
  if (last?.intent === intent && last.pair === pair && isSameMoment(last.clock, clock)) return last.ranking;
  const ranking = rankMarkets(pair, directAskOf(intent, clock), isTaxed(intent), 1);
  lastBest = { intent, pair, clock, ranking };
  return ranking;
}

const directAskOf = (intent: Intent, clock: ChainClock): Ask =>
  askOf(intent, intent.inMint.address, intent.outMint.address, intent.amount, clock);

function isTaxed({ inMint, outMint }: Intent): boolean {
  return inMint.transferFees !== undefined || outMint.transferFees !== undefined;
}

function askOf(intent: Intent, inMint: Address, outMint: Address, amount: bigint, clock: ChainClock): Ask {
  // The same object shape as the asks for bounds, so that venues read both equally fast.
  return { mode: intent.mode, inMint, outMint, amount, clock, amountsOnly: false };
}

function routeOver(intent: Intent, hot: HotMarket, quote: Quote): Route {
  const threshold =
    intent.mode === "exactIn"
      ? minimumOut(quote.outAmount, intent.slippagePpb)
      : maximumIn(quote.inAmount, intent.slippagePpb);
  return {
    steps: [{ hot, quote, threshold }],
    platform: hot.venue.id,
    inAmount: quote.inAmount,
    outAmount: quote.outAmount,
    threshold,
    value: intent.mode === "exactIn" ? quote.outAmount : quote.inAmount,
    remainders: NO_REMAINDERS,
    priceImpact: quote.priceImpact,
    stateSlot: hot.slot,
  };
}

function hubRoutes(
  intent: Intent,
  markets: HubMarkets,
  clock: ChainClock,
  refusals: TradewireError[],
  faults: MarketFault[],
  { least, chosen }: Halves = BEST_HALVES,
): Route[] {
  const { hub, toHub, fromHub } = markets;
  const rank = (pair: PairMarkets, inMint: Address, outMint: Address, amount: bigint): readonly Candidate[] => {
    const ranking = rankMarkets(pair, askOf(intent, inMint, outMint, amount, clock), isTaxed(intent), least);
    refusals.push(...ranking.refusals);
    faults.push(...ranking.faults);
    return chosen(ranking.candidates);
  };
  const { inMint, outMint, amount, slippagePpb } = intent;
  if (intent.mode === "exactIn") {
    const share = passingShare(slippagePpb, isBetweenHubs(inMint.address, hub));
    return rank(toHub, inMint.address, hub, amount).flatMap((first) => {
      const passed = leastPassed(first.hot.venue, first.quote, minimumOut(first.quote.outAmount, share));
      if (passed <= 0n) return [];
      return rank(fromHub, hub, outMint.address, passed).flatMap((candidate) => {
        const second = quoteAfter(first, candidate, passed, clock);
        if (second === undefined) return [];
        const threshold = minimumOut(second.quote.outAmount, slippagePpb - share);
        return [joined({ ...first, threshold: passed }, { ...second, threshold }, threshold)];
      });
    });
  }
  const share = passingShare(slippagePpb, isBetweenHubs(hub, outMint.address));
  return rank(fromHub, hub, outMint.address, amount).flatMap((candidate) => {
    const passed = maximumIn(candidate.quote.inAmount, share);
    return rank(toHub, inMint.address, hub, passed).flatMap((before) => {
      const pair = settlePair(before, candidate, { share, passed, amount, clock });
      if (pair === undefined) return [];
      const { first, second } = pair;
      const threshold = maximumIn(first.quote.inAmount, slippagePpb - share);
      return [joined({ ...first, threshold }, { ...second, threshold: pair.passed }, threshold)];
    });
  });
}

function joined(first: RouteStep, second: RouteStep, threshold: bigint): Route {
  return {
    steps: [first, second],
    platform: `${first.hot.venue.id}+${second.hot.venue.id}`,
    inAmount: first.quote.inAmount,
    outAmount: second.quote.outAmount,
    threshold,
    value: first.quote.mode === "exactIn" ? second.quote.outAmount : first.quote.inAmount,
    remainders: [{ mint: first.quote.outMint, amount: first.quote.outAmount - second.quote.inAmount }],
    priceImpact: joinedImpact(first.quote.priceImpact, second.quote.priceImpact),
    stateSlot: minOf(first.hot.slot, second.hot.slot),
  };
}

/** Price impacts are rounded to twelve decimals. */
const IMPACT_PARTS = 1e12;

/** The price impact of two markets in a row, rounded to hide the noise of doubles. */
function joinedImpact(first: number, second: number): number {
  return Math.round((1 - (1 - first) * (1 - second)) * IMPACT_PARTS) / IMPACT_PARTS;
}
