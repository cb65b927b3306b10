import { compareAddresses } from "../../primitives/address.ts";
import type { ChainClock } from "../../solana/account.ts";
import type { Intent } from "../intent.ts";
import type { Remainder } from "../trade.ts";
import type { Route, RouteStep } from "./route.ts";

/** Routes with their value, the most valuable first: see `compareRoutes`. */
export function orderRoutes(intent: Intent, routes: readonly Route[], clock: ChainClock): readonly Route[] {
  if (routes.length < 2) return routes;
  return routes.map((route) => valued(intent, route, clock)).sort((a, b) => compareRoutes(intent, a, b));
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

/** The route with its value, which includes what selling its remainders on its own markets would give. */
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

/** Losses are rounded to nine decimals. */
const LOSS_PARTS = 1e9;

/**
 * How much better, before costs, the best route is than the one that is taken because it fits into a transaction. Fraction of the latter's
 * value; 0 if it is no better.
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
