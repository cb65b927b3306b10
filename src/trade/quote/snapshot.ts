import type { ErrorCode } from "../../errors/error-codes.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Markets, PairMarkets, SearchCaller } from "../../market/port.ts";
import type { Address } from "../../primitives/address.ts";
import { background } from "../../primitives/turns/background.ts";
import type { ChainClock } from "../../solana/account.ts";
import { HUB_MINTS } from "../../solana/hub-mints.ts";
import type { Mint } from "../../solana/token/mint.ts";
import type { Intent } from "../intent.ts";
import type { Leader } from "./bounds/leader.ts";
import { allAtOnce, pausing, type Steps } from "./long-searches.ts";
import { nearestAmounts } from "./nearest-amounts.ts";
import { noRoute, SHARED_CODES } from "./no-route.ts";
import { dividedOnly, inputNear } from "./pricing/input-near.ts";
import { type HubMarkets, hubRoutesByVenue, priceRoutes, type Routes, routesAbove } from "./pricing/price-routes.ts";
import { threeLegRoutes } from "./pricing/three-legs.ts";
import { pathCount, type Route } from "./route.ts";
import { onlyAllowed, UNBOUNDED } from "./route-bounds.ts";
import { orderRoutes } from "./route-order.ts";
import { onlyChecked } from "./route-proof.ts";
import type { MintCrossing } from "./split/network.ts";
import { splitRoutes } from "./split/split-routes.ts";
import type { Splits } from "./split/splits.ts";

/** A hub with its mint: a trade through it may need a token account of that mint. */
interface KnownHub extends HubMarkets {
  readonly mint: Mint;
}

/** The markets of a trade at one moment. */
export interface Snapshot {
  readonly direct: PairMarkets;
  readonly hubs: readonly KnownHub[];
  /** Pairs of two hubs, in both directions; those that are not known are left out. */
  readonly between?: readonly MintCrossing[];
  /** True if hubs were left out that are yet to be read: see `withAllHubs`. */
  readonly isPartial?: boolean;
}

type MarketsPort = Pick<Markets, "marketsOf" | "knownMarkets" | "mint" | "hubMints" | "hubsOf" | "findHubs">;

/**
 * The snapshot from memory, or undefined if the pair itself is not known yet. Hubs not known yet are left out and searched
 * in the background: a trade that works without them does not wait for them. Undefined too while the state of one is "late":
 * without it a trade may seem impossible, or be worse than before.
 *
 * @throws TradewireError STATE_STALE
 */
export function takeSnapshot(
  markets: MarketsPort,
  inMint: Address,
  outMint: Address,
  caller?: SearchCaller,
): Snapshot | undefined {
  const pair = { a: inMint, b: outMint };
  const direct = markets.marketsOf(pair, caller);
  if (direct instanceof Promise) return undefined;
  const chosen = markets.hubsOf?.(pair);
  if (chosen?.isKnown === true && chosen.mints.length === 0) return { direct, hubs: NO_HUBS, between: NO_CROSSINGS };
  const hubs: KnownHub[] = [];
  let isWaiting = chosen?.isKnown === false;
  for (const hub of hubsOf(chosen?.mints ?? markets.hubMints, inMint, outMint)) {
    const mint = markets.mint(hub);
    const toHub = markets.knownMarkets({ a: inMint, b: hub }, caller);
    const fromHub = markets.knownMarkets({ a: hub, b: outMint }, caller);
    if (toHub === "late" || fromHub === "late") return undefined;
    if (mint instanceof Promise || toHub === undefined || fromHub === undefined) isWaiting = true;
    else if (canPass(mint)) hubs.push({ hub, mint, toHub, fromHub });
  }
  if (isWaiting && direct.markets.length === 0) return undefined;
  const between = hubs.length < 2 ? NO_CROSSINGS : crossingsBetween(markets, hubs);
  return between === "late" ? undefined : { direct, hubs, between, isPartial: isWaiting };
}

/**
 * Makes an attempt on a snapshot. If hubs were left out of it that are yet to be read, a trade that no market makes waits for them, and
 * another attempt is made with them.
 */
export function withAllHubs<T>(
  markets: MarketsPort,
  { inMint, outMint }: Pick<Intent, "inMint" | "outMint">,
  snapshot: Snapshot,
  caller: SearchCaller | undefined,
  attempt: (snapshot: Snapshot) => T | Promise<T>,
): T | Promise<T> {
  if (snapshot.isPartial !== true) return attempt(snapshot);
  const retry = async (error: unknown): Promise<T> => {
    if (!(error instanceof TradewireError) || !MADE_BY_NONE.includes(error.code)) throw error;
    const whole = await awaitSnapshot(markets, inMint.address, outMint.address, caller).catch(() => {
      throw error;
    });
    return attempt(whole);
  };
  try {
    const made = attempt(snapshot);
    return made instanceof Promise ? made.catch(retry) : made;
  } catch (error) {
    return retry(error);
  }
}

const MADE_BY_NONE: readonly ErrorCode[] = ["INSUFFICIENT_LIQUIDITY", "NO_ROUTE"];

interface RouteOptions {
  readonly capacity?: string | undefined;
  readonly least?: number;
  readonly searches?: boolean;
}

/** The routes of a trade, and how to find further ones if it can be divided. */
export type FoundRoutes = Routes & { readonly splits?: Splits | undefined };

/**
 * The routes of the trade on the snapshot, best first. If there is none because a market has closed, the pair is searched again:
 * it is often replaced by another.
 *
 * Pauses while it searches for a division, if that is long; others go on meanwhile.
 *
 * @param capacity see `SplitTerms`
 * @param least see `rankMarkets`
 * @param searches false if it must not pause: a trade that has another route is then not divided if dividing takes a long search
 * @throws TradewireError INSUFFICIENT_LIQUIDITY if the trade is too large for every market, VALIDATION_ERROR if it is too small,
 * NO_ROUTE otherwise, with what was tried
 */
export function* routesOf(
  markets: Pick<Markets, "searchSoon">,
  intent: Intent,
  snapshot: Snapshot,
  clock: ChainClock,
  { capacity, least, searches = true }: RouteOptions = {},
): Steps<FoundRoutes> {
  const eligible = eligibleOf(intent, snapshot);
  const { direct, hubs, between = [] } = eligible;
  const refuse = (tried: Tried) => refusalOf(markets, intent, tried, { snapshot, eligible, clock });
  if (hasOneWay(eligible)) {
    const { routes, refusals, faults } = priceRoutes(intent, direct, NO_HUBS, clock, least);
    if (routes.length > 0) return { routes, faults };
    throw refuse({ refusals, faults });
  }
  const { routes, refusals, faults } = priceRoutes(intent, direct, hubs, clock, least);
  const longer = between.length === 0 ? [] : threeLegRoutes(intent, hubs, between, clock);
  const singles = orderRoutes(intent, [...routes, ...longer], clock);
  const { maxPaths, maxLegs } = boundsOf(intent);
  const crossings = crossingsOf(intent, eligible);
  const searchFor = (inAmount: bigint | undefined, paths: number) =>
    splitRoutes(intent, crossings, singles[0], { maxPaths: paths, maxLegs, clock, capacity, inAmount });
  const search =
    singles.length > 0
      ? searchFor(undefined, maxPaths)
      : dividedOnly(intent, inputNear(intent, eligible, clock), maxPaths, searchFor);
  const splits = singles.length > 0 || searches ? yield* pausing(search, searches) : allAtOnce(search);
  const found = [splits?.best, splits?.chain].filter((route) => route !== undefined);
  if (found.length === 0) {
    // Single routes count the loss from divisions that fit no wallet, too.
    if (singles.length > 0) return { routes: singles, faults, ...((splits?.unfitWorth ?? 1) > 1 ? { splits } : {}) };
    throw refuse({ refusals, faults });
  }
  return { routes: orderRoutes(intent, [...found, ...singles], clock), faults, splits };
}

/** The divisions between markets of the pair alone, for a trade whose routes over hubs do not fit; none if they do not make it. */
export function* directDivisions(
  markets: Pick<Markets, "searchSoon">,
  intent: Intent,
  snapshot: Snapshot,
  clock: ChainClock,
  options: RouteOptions,
): Steps<Pick<FoundRoutes, "routes" | "splits">> {
  const { bounds = UNBOUNDED } = intent;
  if (bounds.maxLegs === 1 || snapshot.hubs.length === 0 || snapshot.direct.markets.length < 2) return { routes: [] };
  try {
    const direct = { ...intent, bounds: { ...bounds, maxLegs: 1 } };
    const { routes, splits } = yield* routesOf(markets, direct, snapshot, clock, options);
    return { routes: routes.filter((route) => pathCount(route) > 1), ...(splits === undefined ? {} : { splits }) };
  } catch (error) {
    if (error instanceof TradewireError) return { routes: [] };
    throw error;
  }
}

/**
 * Further routes through hubs, if some of those that were priced fit into no transaction: over the best market of each venue. The best
 * first.
 *
 * @param priced routes that are left out
 */
export function furtherHubRoutes(
  intent: Intent,
  snapshot: Snapshot,
  priced: readonly Route[],
  clock: ChainClock,
): readonly Route[] {
  const routes = hubRoutesByVenue(intent, eligibleOf(intent, snapshot).hubs, clock);
  const further = routes.filter(
    (route) => !priced.some(({ steps }) => steps.length === route.steps.length && hasMarkets(steps, route.steps)),
  );
  return orderRoutes(intent, further, clock);
}

/** True if these steps are over the same markets, one after another. */
function hasMarkets(steps: Route["steps"], others: Route["steps"]): boolean {
  return steps.every(({ hot }, index) => hot === others[index]!.hot);
}

/** The routes over one market that are worth more than `above`, the best first. */
export function directRoutesAbove(
  intent: Intent,
  snapshot: Snapshot,
  above: Leader,
  clock: ChainClock,
): readonly Route[] {
  return routesAbove(intent, eligibleOf(intent, snapshot).direct, above, clock);
}

const NO_HUBS: readonly KnownHub[] = [];
const NO_CROSSINGS: readonly MintCrossing[] = [];

/** True if no route leads through a hub, so that a market of the pair itself is the only way. */
export function hasOneWay({ direct, hubs }: Snapshot): boolean {
  if (direct.markets.length > 1) return false;
  let isReached = false;
  let isLeft = false;
  for (const { toHub, fromHub } of hubs) {
    if (toHub.markets.length > 0) isReached = true;
    if (fromHub.markets.length > 0) isLeft = true;
  }
  return !(isReached && isLeft);
}

/** Why no market makes a trade. */
type Tried = Pick<ReturnType<typeof priceRoutes>, "refusals" | "faults">;

/**
 * The refusal of a trade that nothing can make. The pair is searched again if it has no market, or if one of those that the trade may
 * use is closed or faulty. Markets that the request itself leaves out are no reason: no caller is charged for such a search.
 */
function refusalOf(
  markets: Pick<Markets, "searchSoon">,
  intent: Intent,
  { refusals, faults }: Tried,
  {
    snapshot,
    eligible,
    clock,
  }: { readonly snapshot: Snapshot; readonly eligible: Snapshot; readonly clock: ChainClock },
): ReturnType<typeof noRoute> {
  const { inMint, outMint } = intent;
  const nearest = () => nearestAmounts(intent, eligible.direct, clock);
  const refusal = noRoute(refusals, faults, eligible.direct.searched, eligible !== snapshot, nearest);
  const byTrade = refusals.filter(({ code }) => SHARED_CODES.some((shared) => shared === code)).length;
  const isClosed = faults.filter(({ market }) => market !== undefined).length > byTrade;
  const isEmpty = refusal.code === "NO_ROUTE" && snapshot.direct.markets.length === 0;
  if (isEmpty || (isClosed && refusal.code !== "VENUE_DEGRADED"))
    markets.searchSoon({ a: inMint.address, b: outMint.address });
  return refusal;
}

const boundsOf = ({ bounds = UNBOUNDED }: Intent) => bounds;

/** The pairs that the trade may use: those that start at the input first, those that end at the output last. */
function crossingsOf({ inMint, outMint }: Intent, { direct, hubs, between = [] }: Snapshot): readonly MintCrossing[] {
  const crossings: MintCrossing[] = [{ from: inMint.address, to: outMint.address, pair: direct }];
  const open = hubs.filter(({ toHub }) => toHub.markets.length > 0);
  for (const { hub, toHub } of open) crossings.push({ from: inMint.address, to: hub, pair: toHub });
  for (const crossing of between) crossings.push(crossing);
  for (const { hub, fromHub } of hubs) crossings.push({ from: hub, to: outMint.address, pair: fromHub });
  return crossings;
}

/** The markets that the trade may use. */
function eligibleOf({ requireChecked, bounds = UNBOUNDED }: Intent, snapshot: Snapshot): Snapshot {
  const direct =
    bounds.maxLegs === 1
      ? { ...snapshot, hubs: [], between: [] }
      : bounds.maxLegs === 2
        ? { ...snapshot, between: [] }
        : snapshot;
  if (requireChecked !== true && bounds.allows === undefined) return direct;
  const filter = (pair: PairMarkets) => {
    const allowed = onlyAllowed(pair, bounds);
    return requireChecked === true ? onlyChecked(allowed) : allowed;
  };
  return {
    direct: filter(direct.direct),
    hubs: direct.hubs.map((hub) => ({ ...hub, toHub: filter(hub.toHub), fromHub: filter(hub.fromHub) })),
    between: (direct.between ?? []).map((crossing) => ({ ...crossing, pair: filter(crossing.pair) })),
  };
}

/**
 * The snapshot with every hub, reading what is missing, all at once. Hubs whose state is too old are left out if the pair itself has a
 * market: trades over other pairs must not refuse this one.
 *
 * @throws TradewireError STATE_STALE, UPSTREAM_ERROR
 */
export async function awaitSnapshot(
  markets: MarketsPort,
  inMint: Address,
  outMint: Address,
  caller?: SearchCaller,
): Promise<Snapshot> {
  // Asynchronous even if it answers or throws at once, so that the other reads are awaited, or dropped, in the same way.
  const read = async (a: Address, b: Address) => markets.marketsOf({ a, b }, caller);
  const readHub = async (hub: Address): Promise<KnownHub | undefined> => {
    const [mint, toHub, fromHub] = await Promise.all([markets.mint(hub), read(inMint, hub), read(hub, outMint)]);
    return canPass(mint) ? { hub, mint, toHub, fromHub } : undefined;
  };
  const pair = { a: inMint, b: outMint };
  const fixed = hubsOf(markets.hubMints, inMint, outMint);
  let stale: unknown;
  const leaveOut = (error: unknown) => {
    if (!isStale(error)) throw error;
    stale = error;
    return undefined;
  };
  const [direct, ...near] = await Promise.all([
    read(inMint, outMint),
    ...fixed.map((hub) => readHub(hub).catch(leaveOut)),
  ]);
  if (stale !== undefined && direct.markets.length === 0) throw stale;
  // A search shows what the mints trade against.
  await markets.findHubs?.(pair, caller);
  const further = hubsOf(markets.hubsOf?.(pair).mints ?? [], inMint, outMint).filter((hub) => !fixed.includes(hub));
  // Hubs are optional: one that cannot be read is left out.
  const far = await Promise.all(further.map((hub) => readHub(hub).catch(() => undefined)));
  const hubs = [...near, ...far].filter((hub) => hub !== undefined);
  const between = await awaitBetween(markets, hubs, fixed, direct.markets.length > 0);
  // The last read has used up this turn of the loop: processing the results gets a turn of its own.
  await background.next();
  // Pairs that were read first may have moved while the last ones were read.
  const newest = takeSnapshot(markets, inMint, outMint, caller);
  return newest === undefined || newest.isPartial === true ? { direct, hubs, between } : newest;
}

function isStale(error: unknown): boolean {
  return error instanceof TradewireError && error.code === "STATE_STALE";
}

/** False for a mint that no trade passes through: one that cannot be traded, or takes a fee from every transfer. */
function canPass(mint: Mint | null): mint is Mint {
  return mint !== null && mint.unsupported === undefined && mint.transferFees === undefined;
}

const NO_MARKETS: PairMarkets = { markets: [], faults: [], searched: [] };

/** The pairs of two hubs that are in memory and could be the middle of a route. */
function crossingsBetween(markets: MarketsPort, hubs: readonly KnownHub[]): readonly MintCrossing[] | "late" {
  const crossings: MintCrossing[] = [];
  for (const first of hubs) {
    if (first.toHub.markets.length === 0) continue;
    for (const last of hubs) {
      if (last === first || last.fromHub.markets.length === 0) continue;
      const pair = markets.knownMarkets({ a: first.hub, b: last.hub });
      if (pair === "late") return pair;
      if (pair !== undefined && pair.markets.length > 0) crossings.push({ from: first.hub, to: last.hub, pair });
    }
  }
  return crossings;
}

/** @param mayOmit true: pairs whose state is too old are left out */
async function awaitBetween(
  markets: MarketsPort,
  hubs: readonly KnownHub[],
  fixed: readonly Address[],
  mayOmit: boolean,
): Promise<readonly MintCrossing[]> {
  const read = async (a: Address, b: Address): Promise<PairMarkets> => {
    if (fixed.includes(a) && fixed.includes(b)) return markets.marketsOf({ a, b });
    const known = markets.knownMarkets({ a, b });
    return known === "late" ? markets.marketsOf({ a, b }) : (known ?? NO_MARKETS);
  };
  const crossings = hubs.flatMap((first) =>
    hubs
      .filter((last) => last !== first && first.toHub.markets.length > 0 && last.fromHub.markets.length > 0)
      .map(async (last) => ({
        from: first.hub,
        to: last.hub,
        pair: await read(first.hub, last.hub).catch((error: unknown) => {
          if (!mayOmit || !isStale(error)) throw error;
          return NO_MARKETS;
        }),
      })),
  );
  return (await Promise.all(crossings)).filter(({ pair }) => pair.markets.length > 0);
}

function hubsOf(hubMints: readonly Address[] = HUB_MINTS, inMint: Address, outMint: Address): readonly Address[] {
  if (hubMints.length === 0) return hubMints;
  return hubMints.filter((hub) => hub !== inMint && hub !== outMint);
}
