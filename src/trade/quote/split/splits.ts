import type { HotMarket } from "../../../market/port.ts";
import type { Steps } from "../long-searches.ts";
import type { Route } from "../route.ts";

/**
 * The best division of the trade over parallel paths, and how to find narrower ones. Undefined if splitting cannot gain: the
 * best single route gives as much as the best price for a small part, or there is nothing to divide between.
 */
export interface Splits {
  /** A single path that is better than the best one over the best market of each pair, if limits of markets make one so. */
  readonly chain: Route | undefined;
  readonly best: Route | undefined;
  /** The best division over at most this many paths, down to two: for transactions that a wider one does not fit. */
  readonly narrower: (maxPaths: number) => Steps<Route | undefined>;
  /** The best division without a market of one found here, for transactions that it does not fit. */
  readonly lighter: (route: Route, market: HotMarket) => Route | undefined;
  /** True if no lighter division fits a kind of transaction, of any wallet, as found on these markets before. */
  readonly hasNoLighter: (kind: string) => boolean;
  readonly findsNoLighter: (kind: string) => void;
  /** Notes that no wallet's transaction holds more than this lighter division: the next trades begin with it. */
  readonly leavesOut: (route: Route) => void;
  /** Notes that no wallet's transaction holds this many paths: the next trades of this size on these markets search fewer. */
  readonly neverFits: (paths: number) => void;
  /** How many times as good as the route to begin with the best one is that was found to fit nobody; at least 1. */
  readonly unfitWorth: number;
  /** Notes how many times as good a route that fits nobody is as the one that the next trades begin with. */
  readonly beginsBelow: (worth: number) => void;
}

function* noRoute(): Steps<undefined> {}

/** Nothing to divide. */
export const NO_SPLITS: Splits = {
  chain: undefined,
  best: undefined,
  narrower: noRoute,
  lighter: () => undefined,
  hasNoLighter: () => true,
  findsNoLighter: () => undefined,
  leavesOut: () => undefined,
  neverFits: () => undefined,
  unfitWorth: 1,
  beginsBelow: () => undefined,
};
