import { MAX_TRANSACTION_ACCOUNTS } from "../../../solana/message.ts";
import type { Misfit } from "../no-route.ts";
import type { Route } from "../route.ts";
import type { Splits } from "./split-routes.ts";

/** Accounts above the limit of a transaction from which on leaving out a market or two does not help. */
const FAR_ABOVE = 24;
/** Divisions that do not fit and whose markets are left out one by one, and divisions that are looked at, at most. */
const MOST_OPENED = 6;
const MOST_TRIED = 24;

/** True if a division that does not fit may do so without a market or two. */
export function nearlyFits({ overUnits, accounts }: Misfit): boolean {
  return overUnits || (accounts !== undefined && accounts <= MAX_TRANSACTION_ACCOUNTS + FAR_ABOVE);
}

/**
 * The best division that fits into a transaction, if the widest does not: markets that take many accounts are left out, one
 * after another, and others may take their places. Undefined if none is found.
 *
 * @param unfit a division that does not fit
 * @param fits composes the transaction of a division
 */
export function fittingDivision(
  mode: "exactIn" | "exactOut",
  splits: Pick<Splits, "lighter">,
  unfit: Route,
  fits: (route: Route) => boolean,
): Route | undefined {
  const seen = new Set([marketsOf(unfit)]);
  let open: readonly Route[] = [unfit];
  for (let opened = 0, tried = 0; opened < MOST_OPENED; opened++) {
    const [widest, ...others] = open;
    if (widest === undefined) return undefined;
    const next = [...others];
    for (const route of splits.lighter(widest)) {
      const markets = marketsOf(route);
      if (seen.has(markets)) continue;
      seen.add(markets);
      next.push(route);
    }
    open = next.sort((a, b) => compareAmounts(mode, a, b));
    // The best of what is left: found if it fits, opened next if it does not. After the last opening all are tried.
    const isLast = opened === MOST_OPENED - 1;
    for (const route of open) {
      if (tried++ === MOST_TRIED) return undefined;
      if (fits(route)) return route;
      if (!isLast) break;
    }
  }
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
