import type { TradewireError } from "../../errors/tradewire-error.ts";
import type { HotMarket, MarketFault, PairMarkets } from "../../market/port.ts";
import { type Address, compareAddresses } from "../../primitives/address.ts";
import { minOf } from "../../primitives/integer.ts";
import { maximumIn, minimumOut, passingShare } from "../../primitives/slippage.ts";
import type { ChainClock } from "../../solana/account.ts";
import { isBetweenHubs } from "../../solana/hub-mints.ts";
import type { Ask, Quote } from "../../venues/venue.ts";
import type { Intent } from "../intent.ts";
import type { BuiltTrade, Remainder, RouteLeg } from "../trade.ts";
import { noRoute } from "./no-route.ts";
import { type Candidate, rankMarkets } from "./ranking.ts";
import { leastPassed, quoteAfter, settlePair } from "./shared-state.ts";

/** One market of a route, with the limit its program enforces. */
export interface RouteStep {
  readonly hot: HotMarket;
  readonly quote: Quote;
  /** exactIn: least output. exactOut: most input. Base units. */
  readonly threshold: bigint;
}

/** A way to make the trade: one market, several in a row through hubs, or parallel paths of these. */
export interface Route {
  /** In order of execution. A market that several paths share is one step. */
  readonly steps: readonly RouteStep[];
  /** Path by path, as answers list them; absent if there is one path, whose legs are the steps. */
  readonly legs?: readonly RouteLeg[];
  readonly platform: string;
  readonly inAmount: bigint;
  readonly outAmount: bigint;
  /** exactIn: least output of the whole route. exactOut: most input. */
  readonly threshold: bigint;
  /**
   * What it is worth to the wallet before costs: for exactIn its output and what selling the remainders would give, for exactOut
   * its input less that. Base units of the output or input mint.
   */
  readonly value: bigint;
  /**
   * Base units of each mint between two markets that stay with the wallet if prices stand still. More or less if they move,
   * never below zero.
   */
  readonly remainders: readonly Remainder[];
  /** Of the whole route, as a fraction. */
  readonly priceImpact: number;
  /** Slot of the oldest state priced. */
  readonly stateSlot: bigint;
}

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

/** Best markets combined per half of a hub route: the best pair may not fit into a transaction. */
const HALVES_TRIED = 2;

/**
 * Prices every route of the trade and orders them, best first: more output for exactIn, less input for exactOut; between
 * equals fewer markets, then platform name, then the order of `compareCandidates`.
 *
 * A route through a hub is limited as a whole: a small share of the slippage covers the amount between the markets, the
 * rest the caller's side. For exactIn, the second market sells the least that the first may yield; for exactOut, the first
 * buys the most that the second may take. What is left of the hub's mint stays with the wallet, as the route's remainder.
 *
 * @throws TradewireError INSUFFICIENT_LIQUIDITY if the trade is too large for every market, VALIDATION_ERROR if it is too
 * small for every market, NO_ROUTE otherwise, with what was tried
 */
export function chooseRoutes(
  intent: Intent,
  direct: PairMarkets,
  hubs: readonly HubMarkets[],
  clock: ChainClock,
): Routes {
  const { routes, refusals, faults } = priceRoutes(intent, direct, hubs, clock);
  if (routes.length === 0) throw noRoute(refusals, faults, direct.searched);
  return { routes: orderRoutes(intent, routes, clock), faults };
}

/**
 * Prices every route over one market, or over two through a hub; in no order.
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
  const ranking = rankMarkets(
    direct,
    askOf(intent, intent.inMint.address, intent.outMint.address, intent.amount, clock),
    isTaxed(intent),
    least,
  );
  const refusals = [...ranking.refusals];
  const faults = [...ranking.faults];
  const routes = ranking.candidates.map(({ hot, quote }) => routeOver(intent, hot, quote));
  for (const hub of hubs) {
    if (hub.toHub.markets.length === 0 || hub.fromHub.markets.length === 0) continue;
    routes.push(...hubRoutes(intent, hub, clock, refusals, faults));
  }
  return { routes, faults, refusals };
}

/** The route over a market, without reasons: undefined if the market refuses the trade, or its code fails. */
export function onlyRoute(intent: Intent, hot: HotMarket, clock: ChainClock): Route | undefined {
  const ask = askOf(intent, intent.inMint.address, intent.outMint.address, intent.amount, clock);
  try {
    return routeOver(intent, hot, hot.venue.quote(hot.state, ask));
  } catch {
    return undefined;
  }
}

/** The best route over one market of a pair, without reasons: undefined if none makes the trade. */
export function bestRoute(intent: Intent, pair: PairMarkets, clock: ChainClock): Route | undefined {
  const ask = askOf(intent, intent.inMint.address, intent.outMint.address, intent.amount, clock);
  const [best] = rankMarkets(pair, ask, isTaxed(intent), 1).candidates;
  return best === undefined ? undefined : routeOver(intent, best.hot, best.quote);
}

/** Routes with their value, the most valuable first: see `compareRoutes`. */
export function orderRoutes(intent: Intent, routes: readonly Route[], clock: ChainClock): readonly Route[] {
  if (routes.length < 2) return routes;
  return routes.map((route) => valued(intent, route, clock)).sort((a, b) => compareRoutes(intent, a, b));
}

/** The legs of a route, as answers list them. */
export function legsOf({ steps, legs }: Pick<Route, "steps" | "legs">): readonly RouteLeg[] {
  if (legs !== undefined) return legs;
  if (steps.length === 1) return [legOf(steps[0]!)];
  return steps.map(legOf);
}

function legOf({ hot, quote }: RouteStep): RouteLeg {
  return {
    venue: hot.venue.id,
    market: hot.market.address,
    inMint: quote.inMint,
    outMint: quote.outMint,
    inAmount: quote.inAmount,
    outAmount: quote.outAmount,
  };
}

/** Parallel paths of a route. */
export function pathCount({ legs }: Pick<Route, "legs">): number {
  return (legs?.at(-1)?.path ?? 0) + 1;
}

/** What a route is expected to move. @param fitLoss see `fitLossOf` */
export function estimatesOf(route: Route, fitLoss: number): BuiltTrade["estimates"] {
  const { inAmount, outAmount, remainders, priceImpact, threshold } = route;
  return { inAmount, outAmount, remainders, priceImpact, threshold, fitLoss: fitLoss > 0 ? fitLoss : undefined };
}

/** Losses are rounded to nine decimals. */
const LOSS_PARTS = 1e9;

/**
 * How much better, before costs, the best route is than the one that is taken because it fits into a transaction. Fraction of
 * what the latter is worth; 0 if it is no better.
 *
 * @param best undefined if every route fits
 */
export function fitLossOf(
  { mode }: Pick<Intent, "mode">,
  best: Pick<Route, "value"> | undefined,
  taken: Route,
): number {
  return best === undefined ? 0 : lossOf(mode, Number(best.value), Number(taken.value));
}

/** How much better a value is than the one that is taken, as a fraction of that; 0 if it is no better. */
export function lossOf(mode: Intent["mode"], best: number, taken: number): number {
  const lost = mode === "exactIn" ? best - taken : taken - best;
  return lost > 0 && taken > 0 ? Math.round((lost / taken) * LOSS_PARTS) / LOSS_PARTS : 0;
}

function isTaxed({ inMint, outMint }: Intent): boolean {
  return inMint.transferFees !== undefined || outMint.transferFees !== undefined;
}

function askOf(intent: Intent, inMint: Address, outMint: Address, amount: bigint, clock: ChainClock): Ask {
  // In the shape of the asks for bounds: venues read those as fast as these.
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
): Route[] {
  const { hub, toHub, fromHub } = markets;
  const rank = (pair: PairMarkets, inMint: Address, outMint: Address, amount: bigint): readonly Candidate[] => {
    const ranking = rankMarkets(pair, askOf(intent, inMint, outMint, amount, clock), isTaxed(intent));
    refusals.push(...ranking.refusals);
    faults.push(...ranking.faults);
    return ranking.candidates.slice(0, HALVES_TRIED);
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

/**
 * The order of routes, which is total: more value to the wallet, then more output, then less input, then fewer markets, then
 * platform name, then market addresses.
 */
export function compareRoutes({ mode }: Pick<Intent, "mode">, a: Route, b: Route): number {
  if (a.value !== b.value) return (mode === "exactIn" ? a.value > b.value : a.value < b.value) ? -1 : 1;
  if (a.outAmount !== b.outAmount) return a.outAmount > b.outAmount ? -1 : 1;
  if (a.inAmount !== b.inAmount) return a.inAmount < b.inAmount ? -1 : 1;
  if (a.steps.length !== b.steps.length) return a.steps.length - b.steps.length;
  if (a.platform !== b.platform) return a.platform < b.platform ? -1 : 1;
  for (const [index, { hot }] of a.steps.entries()) {
    const order = compareAddresses(hot.market.address, b.steps[index]!.hot.market.address);
    if (order !== 0) return order;
  }
  return 0;
}

/** The route with its value: what it leaves between its markets is worth what selling it there would give. */
function valued(intent: Intent, route: Route, clock: ChainClock): Route {
  let value = intent.mode === "exactIn" ? route.outAmount : route.inAmount;
  for (const remainder of route.remainders) {
    if (remainder.amount <= 0n) continue;
    const sold = proceedsOf(intent, route, remainder, clock);
    value += intent.mode === "exactIn" ? sold : -sold;
  }
  return value === route.value ? route : { ...route, value };
}

/**
 * What selling a remainder gives on the route's own markets: exactIn: after the trade, on the largest market it could have
 * gone into; exactOut: back into the input on the largest market it came from. 0 if that does not lead to the mint that counts.
 */
function proceedsOf({ mode, inMint, outMint }: Intent, { steps }: Route, rest: Remainder, clock: ChainClock): bigint {
  const exactIn = mode === "exactIn";
  let widest: RouteStep | undefined;
  for (const step of steps) {
    if ((exactIn ? step.quote.inMint : step.quote.outMint) !== rest.mint) continue;
    if (widest === undefined || step.quote.inAmount > widest.quote.inAmount) widest = step;
  }
  if (widest === undefined) return 0n;
  const { hot, quote } = widest;
  const target = exactIn ? outMint.address : inMint.address;
  if ((exactIn ? quote.outMint : quote.inMint) !== target) return 0n;
  const amount = exactIn ? quote.inAmount + rest.amount : rest.amount;
  try {
    const sold = hot.venue.quote(hot.state, { mode: "exactIn", inMint: rest.mint, outMint: target, amount, clock });
    const gained = exactIn ? sold.outAmount - quote.outAmount : sold.outAmount;
    return gained > 0n ? gained : 0n;
  } catch {
    return 0n;
  }
}
