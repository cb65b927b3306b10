import type { HotMarket } from "../../../market/port.ts";
import type { Steps } from "../long-searches.ts";
import type { Route } from "../route.ts";

/**
 * The best division of the trade over parallel paths, and how to find narrower ones. Undefined if splitting cannot gain: the best single
 * route gets the best small-part price for the whole, or there is nothing to divide between.
 */
export interface Splits {
  /** A single path that beats the best one over the best market of each pair; there is one only if markets have reached their limits. */
  readonly chain: Route | undefined;
  readonly best: Route | undefined;
  /** The most paths of it: fewer than allowed if no wallet's transaction holds more. */
  readonly mostPaths: number;
  /** True if it leaves out markets because no wallet's transaction holds them. */
  readonly isLighter: boolean;
  /** The best division over at most this many paths, down to two: for transactions that a wider one does not fit. */
  readonly narrower: (maxPaths: number) => Steps<Route | undefined>;
  /** The best division without a market of one found here, for transactions that it does not fit. */
  readonly lighter: (route: Route, market: HotMarket) => Route | undefined;
  /** True if no lighter division fits a kind of transaction, of any wallet, as found on these markets before. */
  readonly hasNoLighter: (kind: string) => boolean;
  readonly findsNoLighter: (kind: string) => void;
  /** Notes that no wallet's transaction holds more than this lighter division: the next trades begin with it. False if they do already. */
  readonly leavesOut: (route: Route) => boolean;
  /**
   * Notes that no wallet's transaction holds this many paths: the next trades of this size on these markets search fewer. False if they do
   * already.
   */
  readonly neverFits: (paths: number) => boolean;
  /** Value of the best route that was found to fit no wallet, divided by that of the route to begin with; at least 1. */
  readonly unfitWorth: number;
  /** Notes the value of a route that fits no wallet, divided by that of the route that the next trades begin with. */
  readonly beginsBelow: (worth: number) => void;
}

function* noRoute(): Steps<undefined> {}

/** Nothing to divide. */
export const NO_SPLITS: Splits = {
  chain: undefined,
  best: undefined,
  mostPaths: 1,
  isLighter: false,
  narrower: noRoute,
  lighter: () => undefined,
  hasNoLighter: () => true,
  findsNoLighter: () => undefined,
  leavesOut: () => false,
  neverFits: () => false,
  unfitWorth: 1,
  beginsBelow: () => undefined,
};
