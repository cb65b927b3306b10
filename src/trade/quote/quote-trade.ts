import type { ChainHead } from "../../chain/port.ts";
import type { MarketFault, Markets } from "../../market/port.ts";
import type { ChainClock } from "../../solana/account.ts";
import { canonicalMint, type Intent, resolveIntent } from "../intent.ts";
import { checkPriceImpact } from "../limits.ts";
import { guardedRoute, totalGuardOf } from "../total-guard.ts";
import type { QuotedTrade, Trades } from "../trade.ts";
import { type LongSearches, pausing, type Steps } from "./long-searches.ts";
import type { PriceMovements } from "./movement/price-movements.ts";
import { type Misfit, noneFits } from "./no-route.ts";
import { estimatesOf, isThroughHub, legsOf, pathCount, type Route } from "./route.ts";
import { fitLossOf, orderRoutes } from "./route-order.ts";
import { proofOf } from "./route-proof.ts";
import {
  awaitSnapshot,
  directDivisions,
  furtherHubRoutes,
  routesOf,
  type Snapshot,
  takeSnapshot,
  withAllHubs,
} from "./snapshot.ts";
import { nearlyFits, rememberedDivision } from "./split/fitting-division.ts";
import type { Splits } from "./split/splits.ts";
import { type CapacityPorts, capacityOf } from "./transaction-capacity.ts";
import { withheldVenues } from "./withheld-venues.ts";
import { inTurn, type WorstCasePorts, worstCaseOf } from "./worst-case/worst-case.ts";

/** For which wallets a route fits into a transaction: all, those that already have its accounts, or none. */
export type RouteFit =
  | { readonly kind: "always" }
  | { readonly kind: "openAccounts" }
  | ({ readonly kind: "never" } & Misfit);

/** What the quote story reads; everything answers from memory once warm. */
export interface QuotePorts extends CapacityPorts {
  readonly markets: Markets;
  readonly head: Pick<ChainHead, "clock" | "rentExemption">;
  /** Measures the transactions of routes, in order. */
  readonly measureRoutes: (
    intent: Intent,
    snapshot: Snapshot,
    routes: readonly Route[],
    maxTransactionVersion: number | undefined,
  ) => readonly RouteFit[];
  readonly worstCases: WorstCasePorts;
  readonly searches: LongSearches;
  /** Observes the prices of quoted pairs; absent: they are not observed. */
  readonly movements?: Pick<PriceMovements, "note"> | undefined;
}

type QuoteRequest = Parameters<Trades["quote"]>[0];

/**
 * Prices a trade without building it: the best route, the alternatives best first, and what could not be priced and why.
 * Routes that fit into no transaction are among the faults.
 *
 * @throws TradewireError as `buildTrade`, except errors that concern the wallet
 */
export function quoteTrade(ports: QuotePorts, request: QuoteRequest): QuotedTrade | Promise<QuotedTrade> {
  if (request.worstCase === true) {
    const quote = (worstCase: boolean) => quoteNow(ports, { ...request, worstCase });
    return inTurn(ports.worstCases, request.caller, quote);
  }
  return quoteNow(ports, request);
}

function quoteNow(ports: QuotePorts, request: QuoteRequest): QuotedTrade | Promise<QuotedTrade> {
  const { markets } = ports;
  const { caller } = request;
  const inMint = markets.mint(canonicalMint(request.inMint), caller);
  const outMint = markets.mint(canonicalMint(request.outMint), caller);
  if (inMint instanceof Promise || outMint instanceof Promise) return quoteCold(ports, request);
  const intent = resolveIntent(request, inMint, outMint);
  const snapshot = takeSnapshot(markets, intent.inMint.address, intent.outMint.address, caller);
  if (snapshot === undefined) return quoteCold(ports, request);
  return withAllHubs(markets, intent, snapshot, caller, (now) => answer(ports, request, intent, now));
}

async function quoteCold(ports: QuotePorts, request: QuoteRequest): Promise<QuotedTrade> {
  const { markets } = ports;
  const { caller } = request;
  const [inMint, outMint] = await Promise.all([
    markets.mint(canonicalMint(request.inMint), caller),
    markets.mint(canonicalMint(request.outMint), caller),
  ]);
  const intent = resolveIntent(request, inMint, outMint);
  const [inAddress, outAddress] = [intent.inMint.address, intent.outMint.address];
  return answer(ports, request, intent, await awaitSnapshot(markets, inAddress, outAddress, caller));
}

/** The answer; a promise if it needs a long search, which uses the state of the turn in which it starts. */
function answer(
  ports: QuotePorts,
  request: QuoteRequest,
  intent: Intent,
  snapshot: Snapshot,
): QuotedTrade | Promise<QuotedTrade> {
  const { markets, searches } = ports;
  const { inMint, outMint } = intent;
  let isFirst = true;
  const priced = searches.run((isAllowed) => {
    const renewed = isFirst ? undefined : takeSnapshot(markets, inMint.address, outMint.address, request.caller);
    isFirst = false;
    return priceTrade(ports, request, intent, renewed ?? snapshot, isAllowed);
  }, request.caller);
  const complete = (one: PricedTrade) =>
    request.worstCase === true ? withWorstCase(ports, request, intent, one) : one.quoted;
  return priced instanceof Promise ? priced.then(complete) : complete(priced);
}

interface PricedTrade {
  readonly quoted: QuotedTrade;
  readonly route: Route;
  readonly clock: ChainClock;
}

/** The answer without its worst case. Yields only while it searches for a division or for one that fits. */
function* priceTrade(
  ports: QuotePorts,
  request: QuoteRequest,
  intent: Intent,
  snapshot: Snapshot,
  searches: boolean,
): Steps<PricedTrade> {
  const clock = ports.head.clock();
  const { routes: widest, faults, splits } = yield* routesOf(ports.markets, intent, snapshot, clock, { searches });
  const fitting = splits === undefined || !searches ? [] : yield* lighter(ports, request, intent, snapshot, splits);
  const narrower = splits === undefined ? [] : yield* allNarrower(widest, splits, searches);
  const routes = splits === undefined ? widest : orderRoutes(intent, [...fitting, ...narrower, ...widest], clock);
  let first = offersOf(ports, request, intent, snapshot, routes);
  const further = first.lacksHubs ? furtherHubRoutes(intent, snapshot, routes, clock) : [];
  if (further.length > 0)
    first = offersOf(ports, request, intent, snapshot, orderRoutes(intent, [...routes, ...further], clock));
  let { offered, unfit } = first;
  const { lost } = first;
  if (offered.length === 0) {
    const direct = yield* directDivisionsOf(ports, intent, snapshot, clock, searches);
    const second = offersOf(ports, request, intent, snapshot, direct);
    if (second.offered.length === 0) throw noneFits([...first.misfits, ...second.misfits], ports.settings, request);
    offered = second.offered;
    unfit = [...unfit, ...second.unfit];
  }
  const [best, ...alternatives] = offered;
  checkPriceImpact(request, best!.route.priceImpact);
  const quoted: QuotedTrade = {
    inMint: intent.inMint.address,
    outMint: intent.outMint.address,
    inDecimals: intent.inMint.decimals,
    outDecimals: intent.outMint.decimals,
    platform: best!.route.platform,
    estimates: estimatesOf(best!.route, fitLossOf(intent, lost, best!.route)),
    route: legsOf(best!.route),
    proof: proofOf(best!.route),
    needsOpenAccounts: best!.needsOpenAccounts,
    value: best!.route.value,
    splitGain: splitGainOf(request, best!.route, alternatives),
    priceMovement: ports.movements?.note(intent, best!.route, request.caller),
    alternatives: alternatives.map(({ route, needsOpenAccounts }) => ({
      platform: route.platform,
      inAmount: route.inAmount,
      outAmount: route.outAmount,
      priceImpact: route.priceImpact,
      route: legsOf(route),
      needsOpenAccounts,
      value: route.value,
    })),
    faults: [...faults, ...unfit],
    withheld: withheldVenues(intent, snapshot),
  };
  return { quoted, route: best!.route, clock };
}

/** The answer with the worst that the bytes of such a build allow: with a guard of the total, each market's bound is wider. */
async function withWorstCase(
  { worstCases, head }: QuotePorts,
  { mode, totalGuard }: QuoteRequest,
  intent: Intent,
  { quoted, route, clock }: PricedTrade,
): Promise<QuotedTrade> {
  const isGuarded = totalGuard === true && totalGuardOf(intent, route, head) !== undefined;
  const worstCase = await worstCaseOf(worstCases, isGuarded ? guardedRoute(route) : route, mode, clock);
  return { ...quoted, estimates: { ...quoted.estimates, worstCase } };
}

/** The best division that fits, if the best of all takes too many accounts or units. */
function* lighter(
  ports: QuotePorts,
  request: QuoteRequest,
  intent: Intent,
  snapshot: Snapshot,
  splits: Splits,
): Steps<readonly Route[]> {
  const { best } = splits;
  const measure = (route: Route) => ports.measureRoutes(intent, snapshot, [route], request.maxTransactionVersion)[0]!;
  const fit = best === undefined ? undefined : measure(best);
  if (best === undefined || fit?.kind !== "never" || !nearlyFits(fit)) return [];
  const found = yield* rememberedDivision(intent.mode, splits, best, `quote in ${capacityOf(ports, request)}`, {
    fits: (route) => measure(route).kind !== "never",
    never: () => true,
  });
  return found === undefined ? [] : [found];
}

/** The divisions between markets of the pair alone, best first, also over fewer paths. */
function* directDivisionsOf(
  { markets }: QuotePorts,
  intent: Intent,
  snapshot: Snapshot,
  clock: ChainClock,
  searches: boolean,
): Steps<readonly Route[]> {
  const { routes, splits } = yield* directDivisions(markets, intent, snapshot, clock, { searches });
  const narrower = splits === undefined ? [] : yield* allNarrower(routes, splits, searches);
  return orderRoutes(intent, [...routes, ...narrower], clock);
}

/** The best divisions over fewer paths than the widest route has. */
function* allNarrower(routes: readonly Route[], { narrower }: Splits, searches: boolean): Steps<readonly Route[]> {
  const found: Route[] = [];
  let paths = Math.max(...routes.map(pathCount));
  while (paths > 2) {
    const route = yield* pausing(narrower(paths - 1), searches);
    if (route === undefined) break;
    found.push(route);
    paths = Math.min(paths - 1, pathCount(route));
  }
  return found;
}

/** What splitting gains over the best route with one path. Fraction of that route's value; 0 if nothing was split, or that route is worth nothing. */
function splitGainOf({ mode }: QuoteRequest, best: Route, others: readonly OfferedRoute[]): number {
  const single = others.find(({ route }) => pathCount(route) === 1)?.route;
  if (pathCount(best) === 1 || single === undefined || single.value <= 0n) return 0;
  const [more, less] = mode === "exactIn" ? [best.value, single.value] : [single.value, best.value];
  return Number(more - less) / Number(single.value);
}

interface OfferedRoute {
  readonly route: Route;
  readonly needsOpenAccounts: boolean;
}

interface Offers {
  readonly offered: readonly OfferedRoute[];
  readonly unfit: readonly MarketFault[];
  /** The best route, if it does not fit. */
  readonly lost: Route | undefined;
  /** True if a better route through a hub does not fit. */
  readonly lacksHubs: boolean;
  /** Why each of the others does not fit. */
  readonly misfits: readonly Misfit[];
}

/** Separates the routes that fit into a transaction from those that do not. */
function offersOf(
  ports: QuotePorts,
  request: QuoteRequest,
  intent: Intent,
  snapshot: Snapshot,
  routes: readonly Route[],
): Offers {
  const offered: OfferedRoute[] = [];
  const unfit: MarketFault[] = [];
  const misfits: Misfit[] = [];
  let lost: Route | undefined;
  let lacksHubs = false;
  for (const [index, fit] of ports.measureRoutes(intent, snapshot, routes, request.maxTransactionVersion).entries()) {
    const route = routes[index]!;
    if (fit.kind !== "never") {
      offered.push({ route, needsOpenAccounts: fit.kind === "openAccounts" });
      continue;
    }
    misfits.push(fit);
    if (offered.length === 0 && isThroughHub(route)) lacksHubs = true;
    if (fit.fault !== undefined) {
      const { market } = fit.fault;
      if (!unfit.some((fault) => fault.market === market)) unfit.push(fit.fault);
      continue;
    }
    if (offered.length === 0) lost ??= route;
    const market = route.steps.map(({ hot }) => hot.market.address).join("+");
    const size = fit.overUnits
      ? "may take more compute units or instructions than a transaction may"
      : `needs a transaction of at least ${fit.transactionBytes} bytes`;
    const reason = route.steps.some(({ hot }) => hot.refusesLean !== undefined)
      ? `${size}; a deployed program refuses its leaner form`
      : size;
    unfit.push({ venue: route.platform, market, reason });
  }
  return { offered, unfit, lost, lacksHubs, misfits };
}
