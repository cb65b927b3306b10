import type { ChainHead, Lifetime, SenderPlan } from "../../chain/port.ts";
import type { TradewireError } from "../../errors/tradewire-error.ts";
import type { Address } from "../../primitives/address.ts";
import { type LongSearches, pausing, type Steps } from "../quote/long-searches.ts";
import { noneFits } from "../quote/no-route.ts";
import { pathCount, type Route } from "../quote/route.ts";
import { compareRoutes, orderRoutes } from "../quote/route-order.ts";
import { directRoutesAbove, routesOf } from "../quote/snapshot.ts";
import { capacityOf } from "../quote/transaction-capacity.ts";
import type { TradeRequest } from "../trade.ts";
import type { LoadedTrade } from "./load-trade.ts";
import { type ComposedMessage, composeMessage, type MessageTerms, misfitOf } from "./message-forms.ts";
import { leastCostly, mayCostMore } from "./net-value.ts";
import { type RoutePorts, RoutesToTry } from "./parts/routes-to-try.ts";

/** What drafting a trade reads, all from memory. */
export interface DraftPorts extends RoutePorts {
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
  const found = yield* routesOf(ports.markets, intent, snapshot, clock, { capacity, searches, least: BEST_ALONE });
  const choice = ports.senders.choose(request.priority, nonce);
  const { blockhash } = lifetime;
  const terms = { request, intent, accounts, snapshot, blockhash, nonce, seed: ports.nextSeed(), choice };
  const routes = new RoutesToTry(ports, terms, { clock, capacity, searches, found });
  const shared = { loaded, lifetime, senders: choice.senders };
  const misfits: ComposedMessage[] = [];
  for (;;) {
    const route = yield* routes.next();
    if (route === undefined) return { ...shared, ...unfitDraft(ports, request, misfits) };
    const isKnown = misfit !== undefined && isSameTrade(misfit.route, route);
    const composed = isKnown ? misfit : composeMessage(ports, terms, route);
    if (composed.fault === undefined) routes.fitLoss.tries(composed.route);
    if (composed.fits) {
      const doubtful = unknownIn(misfits);
      // Until it is known which accounts exist, costs are unknown too: the trade is drafted again after they have been read.
      const isSettled = composed.unknown.length > 0 || doubtful.length > 0 || !mayCostMore(composed, accounts);
      const best = isSettled ? composed : yield* leastCostlyOf(ports, terms, composed, routes, searches);
      const unknown = doubtful.length === 0 ? best.unknown : [...doubtful, ...best.unknown];
      return { ...shared, composed: best, fitLoss: routes.fitLoss.of(composed.route), unknown };
    }
    misfits.push(composed);
    yield* routes.replace(composed);
  }
}

/**
 * The draft of a trade whose routes all fit into no transaction as far as is known.
 *
 * @throws TradewireError as `noneFits`, if nothing is unknown
 */
function unfitDraft(
  { settings }: DraftPorts,
  request: TradeRequest,
  misfits: readonly ComposedMessage[],
): Pick<TradeDraft, "composed" | "fitLoss" | "unknown" | "refusal"> {
  const refusal = noneFits(misfits.map(misfitOf), settings, request);
  const composed = misfits.find(({ unknown }) => unknown.length > 0);
  if (composed === undefined) throw refusal;
  return { composed, fitLoss: 0, unknown: unknownIn(misfits), refusal };
}

/** Accounts that may or may not exist, and so may keep these messages from fitting. */
function unknownIn(misfits: readonly ComposedMessage[]): readonly Address[] {
  return misfits.length === 0 ? NONE_UNKNOWN : [...new Set(misfits.flatMap(({ unknown }) => unknown))];
}

const NONE_UNKNOWN: readonly Address[] = [];

/**
 * The message that leaves the wallet the most: this one, that of another route, or one over fewer paths if this one opens accounts of hubs.
 */
function* leastCostlyOf(
  ports: DraftPorts,
  terms: MessageTerms,
  composed: ComposedMessage,
  { left, splits }: RoutesToTry,
  searches: boolean,
): Steps<ComposedMessage> {
  const { intent, snapshot } = terms;
  const { route, assembly } = composed;
  const clock = ports.head.clock();
  const opens = route.remainders.length > 0 && assembly.creates.length > 0;
  const search = opens ? splits?.narrower(pathCount(route) - 1) : undefined;
  const fewer = search === undefined ? undefined : yield* pausing(search, searches);
  const cheaper = fewer === undefined ? left : orderRoutes(intent, [fewer, ...left], clock);
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
