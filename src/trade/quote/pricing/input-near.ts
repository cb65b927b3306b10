import type { PairMarkets } from "../../../market/port.ts";
import type { ChainClock } from "../../../solana/account.ts";
import type { Intent } from "../../intent.ts";
import type { Steps } from "../long-searches.ts";
import type { Route } from "../route.ts";
import { orderRoutes } from "../route-order.ts";
import type { MintCrossing } from "../split/network.ts";
import type { Splits } from "../split/splits.ts";
import { type HubMarkets, priceRoutes } from "./price-routes.ts";
import { threeLegRoutes } from "./three-legs.ts";

/** Parts of an exact output to price: of up to four paths, one gives at least a quarter. */
const PARTS = [2n, 4n] as const;

interface SingleMarkets {
  readonly direct: PairMarkets;
  readonly hubs: readonly HubMarkets[];
  readonly between?: readonly MintCrossing[];
}

/**
 * Estimates the input of a trade that no single path can make. For an exact output: the input of a part that one path can give, times the
 * number of parts. Base units; undefined if no path gives a part either.
 */
export function inputNear(
  intent: Intent,
  { direct, hubs, between = [] }: SingleMarkets,
  clock: ChainClock,
): bigint | undefined {
  if (intent.mode === "exactIn") return intent.amount;
  for (const parts of PARTS) {
    const part = { ...intent, amount: intent.amount / parts };
    if (part.amount === 0n) return undefined;
    const { routes } = priceRoutes(part, direct, hubs, clock);
    const [best] = orderRoutes(part, [...routes, ...threeLegRoutes(part, hubs, between, clock)], clock);
    if (best !== undefined) return best.inAmount * parts;
  }
  return undefined;
}

/** If no division for an input gives an exact output, one for so many times as much may; it is searched so often at most. */
const MORE_INPUT = 4n;
const MOST_ENLARGED = 3;
/** If a division takes this part more than it was searched for, it is searched again for what it takes (one over this number). */
const MOST_MISSED = 8n;

/**
 * The best division of a trade that no single path makes. What an exact output takes is estimated from a part of it, but markets that are
 * nearly full take many times as much for the rest, and their curves must reach as far.
 *
 * @param searchFor searches it for about that input over so many paths at most
 */
export function* dividedOnly(
  intent: Intent,
  estimate: bigint | undefined,
  maxPaths: number,
  searchFor: (inAmount: bigint | undefined, maxPaths: number) => Steps<Splits | undefined>,
): Steps<Splits | undefined> {
  const first = yield* searchFor(estimate, maxPaths);
  if (intent.mode === "exactIn" || estimate === undefined || maxPaths < 2) return first;
  let [splits, inAmount] = [first, estimate];
  for (let enlarged = 0; splits?.best === undefined && enlarged < MOST_ENLARGED; enlarged++) {
    inAmount *= MORE_INPUT;
    splits = yield* searchFor(inAmount, maxPaths);
  }
  const taken = splits?.best?.inAmount;
  if (splits === undefined || taken === undefined) return splits;
  const isFull = (one: Splits) => !one.isLighter && one.mostPaths === maxPaths;
  const again =
    isFull(splits) && taken > inAmount + inAmount / MOST_MISSED ? yield* searchFor(taken, maxPaths) : undefined;
  const isBetter = again?.best !== undefined && (again.best.inAmount < taken || !isFull(again));
  const found = isBetter ? again : splits;
  // Fewer paths take more: they are searched for what they take.
  const narrower = function* (paths: number): Steps<Route | undefined> {
    return paths < 2 ? undefined : (yield* dividedOnly(intent, estimate, paths, searchFor))?.best;
  };
  const { mostPaths } = found;
  return mostPaths < maxPaths ? { ...found, narrower, best: yield* narrower(mostPaths) } : { ...found, narrower };
}
