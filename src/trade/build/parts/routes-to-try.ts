import type { Markets } from "../../../market/port.ts";
import type { ChainClock } from "../../../solana/account.ts";
import { MAX_TRANSACTION_SIZE } from "../../../solana/message.ts";
import { pausing, type Steps } from "../../quote/long-searches.ts";
import { isThroughHub, pathCount, type Route } from "../../quote/route.ts";
import { orderRoutes } from "../../quote/route-order.ts";
import { directDivisions, type FoundRoutes, furtherHubRoutes, routesOf } from "../../quote/snapshot.ts";
import { nearlyFits, rememberedDivision } from "../../quote/split/fitting-division.ts";
import type { Splits } from "../../quote/split/splits.ts";
import { VERSION_1_CAPACITY } from "../../quote/transaction-capacity.ts";
import {
  type ComposedMessage,
  composeMessage,
  type MessagePorts,
  type MessageTerms,
  misfitOf,
} from "../message-forms.ts";
import { FitLoss, fitsNobody, isTooLargeForAll } from "../route-fit.ts";

/** What searching for routes that fit reads, all from memory. */
export interface RoutePorts extends MessagePorts {
  readonly markets: Pick<Markets, "account" | "searchSoon">;
}

/** How the routes of a trade are searched. */
interface RouteSearch {
  readonly clock: ChainClock;
  /** See `SplitTerms`. */
  readonly capacity: string;
  /** False if no search may take longer than one turn. */
  readonly searches: boolean;
  /** The routes to begin with. */
  readonly found: FoundRoutes;
}

/** The routes of a trade, the best first, until the message of one fits. What is worse than that is never searched. */
export class RoutesToTry {
  /** What the trade loses because better routes fit into no transaction. */
  readonly fitLoss: FitLoss;
  /** Those behind the one that is tried, the best first. */
  left: readonly Route[];
  /** The divisions from which narrower ones are made. */
  splits: Splits | undefined;
  readonly #ports: RoutePorts;
  readonly #terms: MessageTerms;
  readonly #search: RouteSearch;
  /** Paths of the narrowest division tried so far. */
  #paths = Number.POSITIVE_INFINITY;
  #hasFurther = false;
  #hasDirect = false;
  /** Whether a route through a hub was tried in vain, and whether those over further venues are among the routes. */
  #lacksHubs = false;
  #hasHubs = false;
  #hasLighter: boolean;

  constructor(ports: RoutePorts, terms: MessageTerms, search: RouteSearch) {
    const { found, searches } = search;
    this.#ports = ports;
    this.#terms = terms;
    this.#search = search;
    this.left = found.routes;
    this.splits = found.splits;
    this.fitLoss = new FitLoss(terms.intent.mode, found.splits);
    this.#hasLighter = !searches;
  }

  /** The next one to try; undefined if none is left. */
  *next(): Steps<Route | undefined> {
    if (this.#lacksHubs && !this.#hasHubs && !isThroughHub(this.left[0])) this.#addHubs();
    if (this.left.length === 0 && !this.#hasFurther) yield* this.#addFurther();
    if (this.left.length === 0 && !this.#hasDirect) yield* this.#addDirect();
    const [route, ...others] = this.left;
    this.left = others;
    return route;
  }

  /** Takes up what may fit in place of the route that was tried and does not. */
  *replace(composed: ComposedMessage): Steps<void> {
    if (isThroughHub(composed.route)) this.#lacksHubs = true;
    if (yield* this.#addLighter(composed)) return;
    this.#learnFrom(composed);
    yield* this.#addNarrower(composed.route);
  }

  /** The same hub may be reached, or left, over other venues whose swaps take less room; those are priced only now. */
  #addHubs(): void {
    this.#hasHubs = true;
    const { intent, snapshot } = this.#terms;
    const { clock, found } = this.#search;
    const further = furtherHubRoutes(intent, snapshot, found.routes, clock);
    if (further.length > 0) this.left = orderRoutes(intent, [...this.left, ...further], clock);
  }

  /** Routes over further markets may fit; they are priced only now. */
  *#addFurther(): Steps<void> {
    this.#hasFurther = true;
    const { intent, snapshot } = this.#terms;
    const { clock, capacity, searches } = this.#search;
    const { routes } = yield* routesOf(this.#ports.markets, intent, snapshot, clock, { capacity, searches });
    this.left = routes.filter((route) => pathCount(route) === 1);
  }

  /** Divisions over hubs take more markets than paths. */
  *#addDirect(): Steps<void> {
    this.#hasDirect = true;
    const { intent, snapshot } = this.#terms;
    const { clock, capacity, searches } = this.#search;
    const direct = yield* directDivisions(this.#ports.markets, intent, snapshot, clock, { capacity, searches });
    this.splits = direct.splits;
    this.left = direct.routes;
    this.#paths = Number.POSITIVE_INFINITY;
  }

  /** The best division that fits, in place of one that takes too many accounts or compute units. False if there is none. */
  *#addLighter(composed: ComposedMessage): Steps<boolean> {
    const { route } = composed;
    const { splits } = this;
    if (this.#hasLighter || splits === undefined || pathCount(route) < 2 || !nearlyFits(misfitOf(composed)))
      return false;
    this.#hasLighter = true;
    const [ports, terms] = [this.#ports, this.#terms];
    const kind = `build in ${this.#search.capacity}`;
    const fitting = yield* rememberedDivision(terms.intent.mode, splits, route, kind, {
      fits: (lighter) => composeMessage(ports, terms, lighter).fits,
      never: (refused) => fitsNobody(ports, terms, refused),
    });
    if (fitting === undefined) return false;
    if (fitsNobody(ports, terms, route)) this.fitLoss.fitsNobody(route, () => splits.leavesOut(fitting));
    this.#add(fitting);
    return true;
  }

  /** Fewer paths may fit; they are searched only now, one path fewer at a time. */
  *#addNarrower(route: Route): Steps<void> {
    this.#paths = Math.min(this.#paths, pathCount(route)) - 1;
    const { splits } = this;
    const fewer =
      splits === undefined ? undefined : yield* pausing(splits.narrower(this.#paths), this.#search.searches);
    if (fewer !== undefined) this.#add(fewer);
  }

  #add(route: Route): void {
    this.left = orderRoutes(this.#terms.intent, [route, ...this.left], this.#search.clock);
  }

  /**
   * Other trades learn of a number of paths that has too many bytes for every wallet. In version 1 the limit is accounts, and fewer paths do
   * not help. A single path that does not fit proves nothing about divisions: it may have more legs.
   */
  #learnFrom({ route, transactionBytes, overUnits }: ComposedMessage): void {
    const isTooLarge = transactionBytes > MAX_TRANSACTION_SIZE && !overUnits;
    const { capacity, found } = this.#search;
    if (!isTooLarge || this.#hasDirect || pathCount(route) < 2 || capacity === VERSION_1_CAPACITY) return;
    if (!isTooLargeForAll(this.#ports, this.#terms, route)) return;
    this.fitLoss.fitsNobody(route, () => found.splits?.neverFits(pathCount(route)) === true);
  }
}
