import type { ChainHead, Lifetime, SenderPlan } from "../../chain/port.ts";
import type { TradewireError } from "../../errors/tradewire-error.ts";
import type { Markets } from "../../market/port.ts";
import type { Address } from "../../primitives/address.ts";
import { MAX_TRANSACTION_SIZE } from "../../solana/message.ts";
import { type LongSearches, pausing, type Steps } from "../quote/long-searches.ts";
import { type Misfit, noneFits } from "../quote/no-route.ts";
import { pathCount, type Route } from "../quote/route.ts";
import { compareRoutes, orderRoutes } from "../quote/route-order.ts";
import { directDivisions, directRoutesAbove, type FoundRoutes, routesOf } from "../quote/snapshot.ts";
import { nearlyFits, rememberedDivision } from "../quote/split/fitting-division.ts";
import type { Splits } from "../quote/split/splits.ts";
import { capacityOf, VERSION_1_CAPACITY } from "../quote/transaction-capacity.ts";
import type { LoadedTrade } from "./load-trade.ts";
import {
  type ComposedMessage,
  composeMessage,
  type MessagePorts,
  type MessageTerms,
  misfitOf,
} from "./message-forms.ts";
import { leastCostly, mayCostMore } from "./net-value.ts";
import { FitLoss, fitsNobody, isTooLargeForAll } from "./route-fit.ts";

/** What drafting a trade reads, all from memory. */
export interface DraftPorts extends MessagePorts {
  readonly markets: Pick<Markets, "account" | "searchSoon">;
  readonly head: Pick<ChainHead, "clock" | "rentExemption">;
  readonly senders: SenderPlan;
  readonly searches: LongSearches;
  /** A seed for the temporary wrapped-SOL account that nobody can guess from other builds. */
  readonly nextSeed: () => string;
}

/** Markets priced beside the best one before its message is composed. */
const BEST_ALONE = 1;

/** A loaded trade on the best route that fits into a transaction. */
export interface TradeDraft {
  readonly loaded: LoadedTrade;
  readonly composed: ComposedMessage;
  readonly lifetime: Lifetime;
  /** The senders whose tips are in the message. */
  readonly senders: readonly string[];
  /** See `FitLoss`. */
  readonly fitLoss: number;
  /** Accounts that may or may not exist: once that is known, the draft may be another one. */
  readonly unknown: readonly Address[];
  /** Why the message fits into no transaction, if it may fit once it is known which accounts exist. */
  readonly refusal?: TradewireError;
}

/**
 * Drafts a trade: tries routes, best first, until the message of one fits into a transaction. Yields only while it searches for a division
 * or for one that fits.
 *
 * @param nonce a number that differs between builds, below 2^14
 * @param searches false if no search may take longer than one turn
 * @param misfit the message of a one-market route that was found to fit into no transaction, so that it is not composed again
 * @returns a draft with its `refusal` if a route fits into no transaction as long as it is not known which accounts exist
 * @throws TradewireError as `routesOf`; NO_ROUTE if no route fits into a transaction
 */
export function* draftTrade(
  ports: DraftPorts,
  loaded: LoadedTrade,
  lifetime: Lifetime,
  nonce: number,
  searches: boolean,
  misfit?: ComposedMessage,
): Steps<TradeDraft> {
  const { request, intent, accounts, snapshot } = loaded;
  const capacity = capacityOf(ports, request);
  const clock = ports.head.clock();
  const price = (least?: number): Steps<FoundRoutes> =>
    routesOf(ports.markets, intent, snapshot, clock, {
      capacity,
      searches,
      ...(least === undefined ? {} : { least }),
    });
  const { routes, splits: widest } = yield* price(BEST_ALONE);
  const choice = ports.senders.choose(request.priority, nonce);
  const { blockhash } = lifetime;
  const terms = { request, intent, accounts, snapshot, blockhash, nonce, seed: ports.nextSeed(), choice };
  const misfits: Misfit[] = [];
  /** Accounts that may or may not exist, and so may keep better routes from fitting. */
  const doubtful = new Set<Address>();
  let unfit: ComposedMessage | undefined;
  let left = routes;
  let paths = Number.POSITIVE_INFINITY;
  let hasOthers = false;
  let splits = widest;
  let hasDirect = false;
  const fitLoss = new FitLoss(intent.mode, widest);
  let isLight = !searches;
  for (;;) {
    if (left.length === 0 && !hasOthers) {
      // Routes over further markets may fit; they are priced only now.
      hasOthers = true;
      left = (yield* price()).routes.filter((route) => pathCount(route) === 1);
    }
    if (left.length === 0 && !hasDirect) {
      // Divisions over hubs take more markets than paths.
      hasDirect = true;
      const direct = yield* directDivisions(ports.markets, intent, snapshot, clock, { capacity, searches });
      splits = direct.splits;
      left = direct.routes;
      paths = Number.POSITIVE_INFINITY;
    }
    const [route, ...others] = left;
    if (route === undefined) {
      const refusal = noneFits(misfits, ports.settings, request);
      if (unfit === undefined) throw refusal;
      return {
        loaded,
        composed: unfit,
        lifetime,
        senders: choice.senders,
        fitLoss: 0,
        unknown: [...doubtful],
        refusal,
      };
    }
    const composed =
      misfit !== undefined && isSameTrade(misfit.route, route) ? misfit : composeMessage(ports, terms, route);
    if (composed.fault === undefined) fitLoss.tries(composed.route);
    if (composed.fits) {
      // Until it is known which accounts exist, costs are unknown too: the trade is drafted again after they have been read.
      const isSettled = composed.unknown.length > 0 || doubtful.size > 0 || !mayCostMore(composed, accounts);
      const best = isSettled ? composed : yield* leastCostlyOf(ports, terms, composed, others, splits, searches);
      const unknown = doubtful.size === 0 ? best.unknown : [...doubtful, ...best.unknown];
      return {
        loaded,
        composed: best,
        lifetime,
        senders: choice.senders,
        fitLoss: fitLoss.of(composed.route),
        unknown,
      };
    }
    misfits.push(misfitOf(composed));
    for (const address of composed.unknown) doubtful.add(address);
    if (composed.unknown.length > 0) unfit ??= composed;
    left = others;
    if (!isLight && splits !== undefined && pathCount(route) > 1 && nearlyFits(misfitOf(composed))) {
      isLight = true;
      const fitting = yield* lighterThan(ports, terms, composed, splits, fitLoss);
      if (fitting !== undefined) {
        left = orderRoutes(intent, [fitting, ...others], clock);
        continue;
      }
    }
    const isTooLarge = composed.transactionBytes > MAX_TRANSACTION_SIZE && !composed.overUnits;
    // In version 1 the limit is accounts, and fewer paths do not help. A single path that does not fit proves nothing about divisions: it
    // may have more legs.
    if (
      isTooLarge &&
      !hasDirect &&
      pathCount(route) > 1 &&
      capacity !== VERSION_1_CAPACITY &&
      isTooLargeForAll(ports, terms, route)
    ) {
      fitLoss.fitsNobody(composed.route, () => widest?.neverFits(pathCount(route)) === true);
    }
    // Fewer paths may fit; they are searched only now, one path fewer at a time.
    paths = Math.min(paths, pathCount(route)) - 1;
    const fewer = splits === undefined ? undefined : yield* pausing(splits.narrower(paths), searches);
    if (fewer !== undefined) left = orderRoutes(intent, [fewer, ...others], clock);
  }
}

/** The best division that fits, in place of one that takes too many accounts or compute units. */
function* lighterThan(
  ports: DraftPorts,
  terms: MessageTerms,
  { route }: ComposedMessage,
  splits: Splits,
  fitLoss: FitLoss,
): Steps<Route | undefined> {
  const { intent } = terms;
  const kind = `build in ${capacityOf(ports, terms.request)}`;
  const fitting = yield* rememberedDivision(intent.mode, splits, route, kind, {
    fits: (lighter) => composeMessage(ports, terms, lighter).fits,
    never: (refused) => fitsNobody(ports, terms, refused),
  });
  if (fitting !== undefined && fitsNobody(ports, terms, route))
    fitLoss.fitsNobody(route, () => splits.leavesOut(fitting));
  return fitting;
}

/**
 * The message that leaves the wallet the most: this one, that of another route, or one over fewer paths if this one opens accounts of hubs.
 */
function* leastCostlyOf(
  ports: DraftPorts,
  terms: MessageTerms,
  composed: ComposedMessage,
  others: readonly Route[],
  splits: Splits | undefined,
  searches: boolean,
): Steps<ComposedMessage> {
  const { intent, snapshot } = terms;
  const { route, assembly } = composed;
  const clock = ports.head.clock();
  const opens = route.remainders.length > 0 && assembly.creates.length > 0;
  const search = opens ? splits?.narrower(pathCount(route) - 1) : undefined;
  const fewer = search === undefined ? undefined : yield* pausing(search, searches);
  const cheaper = fewer === undefined ? others : orderRoutes(intent, [fewer, ...others], clock);
  const othersAbove = (worth: bigint): readonly Route[] => {
    if (route.steps.length > 1) return cheaper;
    // Only the best market was priced: the next best may open fewer accounts.
    const direct = directRoutesAbove(intent, snapshot, { hot: route.steps[0]!.hot, value: worth }, clock);
    const next = direct.filter((other) => compareRoutes(intent, route, other) < 0);
    return orderRoutes(intent, [...cheaper.filter(({ steps }) => steps.length > 1), ...next], clock);
  };
  return leastCostly(ports, terms, composed, othersAbove, clock);
}

/** True if both routes make the same trade on the same state of one market. */
function isSameTrade(a: Route, b: Route): boolean {
  if (a.steps.length !== 1 || b.steps.length !== 1) return false;
  return a.steps[0]!.hot === b.steps[0]!.hot && a.inAmount === b.inAmount && a.outAmount === b.outAmount;
}
