import type { HotMarket } from "../../../market/port.ts";
import { MAX_TRANSACTION_ACCOUNTS } from "../../../solana/message.ts";
import type { Steps } from "../long-searches.ts";
import type { Misfit } from "../no-route.ts";
import type { Route } from "../route.ts";
import type { Splits } from "./splits.ts";

/** With this many accounts above a transaction's limit, leaving out a market or two does not help. */
const FAR_ABOVE = 24;
/** Markets of a division that are left out one by one. */
const MOST_LEFT_OUT = 4;
/** Upper bounds: divisions that do not fit and are expanded further, and divisions tried. */
const MOST_OPENED = 6;
const MOST_TRIED = 24;

/** True if a division that does not fit may fit without one or two of its markets. */
export function nearlyFits({ overUnits, accounts }: Misfit): boolean {
  return overUnits || (accounts !== undefined && accounts <= MAX_TRANSACTION_ACCOUNTS + FAR_ABOVE);
}

/**
 * The best division that fits into a transaction, if the widest does not: markets that take many accounts are left out, one
 * after another, and others may take their places. Undefined if none is found. Yields before each division that is searched or
 * composed: each takes milliseconds.
 *
 * @param unfit a division that does not fit
 * @param fits composes the transaction of a division
 */
export function* fittingDivision(
  mode: "exactIn" | "exactOut",
  splits: Pick<Splits, "lighter">,
  unfit: Route,
  fits: (route: Route) => boolean,
): Steps<Route | undefined> {
  const seen = new Set([marketsOf(unfit)]);
  let open: readonly Route[] = [unfit];
  for (let opened = 0, tried = 0; opened < MOST_OPENED; opened++) {
    const [widest, ...others] = open;
    if (widest === undefined) return undefined;
    const next = [...others];
    for (const market of leastNeeded(widest)) {
      yield;
      const route = splits.lighter(widest, market);
      if (route === undefined) continue;
      const markets = marketsOf(route);
      if (seen.has(markets)) continue;
      seen.add(markets);
      next.push(route);
    }
    open = next.sort((a, b) => compareAmounts(mode, a, b));
    // The best of the remaining divisions: the result if it fits, expanded next if it does not. After the last expansion all of them are
    // tried.
    const isLast = opened === MOST_OPENED - 1;
    for (const route of open) {
      if (tried++ === MOST_TRIED) return undefined;
      yield;
      if (fits(route)) return route;
      if (!isLast) break;
    }
  }
  return undefined;
}

/**
 * The same, but remembers a failed search while the markets hardly change: a search costs tens of milliseconds.
 *
 * @param kind names the kind of transaction
 * @param never true if a division that does not fit would fit no wallet's transaction of this kind
 */
export function* rememberedDivision(
  mode: "exactIn" | "exactOut",
  splits: Pick<Splits, "lighter" | "hasNoLighter" | "findsNoLighter">,
  unfit: Route,
  kind: string,
  { fits, never }: { readonly fits: (route: Route) => boolean; readonly never: (route: Route) => boolean },
): Steps<Route | undefined> {
  if (splits.hasNoLighter(kind)) return undefined;
  const refused = [unfit];
  const found = yield* fittingDivision(mode, splits, unfit, (route) => {
    if (fits(route)) return true;
    refused.push(route);
    return false;
  });
  if (found !== undefined) return found;
  for (const route of refused) {
    yield;
    if (!never(route)) return undefined;
  }
  splits.findsNoLighter(kind);
  return undefined;
}

function compareAmounts(mode: "exactIn" | "exactOut", a: Route, b: Route): number {
  const [more, less] = mode === "exactIn" ? [a.outAmount, b.outAmount] : [b.inAmount, a.inAmount];
  return more > less ? -1 : more < less ? 1 : 0;
}

/** Names the markets of a route, in any order. */
function marketsOf({ steps }: Route): string {
  return steps
    .map(({ hot }) => hot.market.address.toString())
    .sort()
    .join();
}

/** The markets that carry the least of a route: they cost the least to leave out. */
function leastNeeded({ steps, legs = [] }: Route): readonly HotMarket[] {
  const carried = steps.map(({ hot }) => ({
    hot,
    share: legs.reduce((sum, leg) => sum + (leg.market === hot.market.address ? (leg.sharePpb ?? 0) : 0), 0),
  }));
  carried.sort((a, b) => a.share - b.share);
  return carried.slice(0, MOST_LEFT_OUT).map(({ hot }) => hot);
}
