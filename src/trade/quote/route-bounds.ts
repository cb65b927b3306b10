import { invalidField, type TradewireError } from "../../errors/tradewire-error.ts";
import type { HotMarket, PairMarkets } from "../../market/port.ts";
import type { TradeRequest } from "../trade.ts";

/** Parallel paths of a route at most, and markets in a row. */
export const MOST_PATHS = 4;
const MOST_LEGS = 3;

/** Which routes a trade may take. */
export interface RouteBounds {
  readonly maxPaths: number;
  readonly maxLegs: number;
  /** True for a venue the trade may use; undefined if it may use every one. */
  readonly allows: ((venue: string) => boolean) | undefined;
  /** Equal for equal sets of venues. */
  readonly key: string;
}

/** Every route there is. */
export const UNBOUNDED: RouteBounds = { maxPaths: MOST_PATHS, maxLegs: MOST_LEGS, allows: undefined, key: "" };

type Asked = Pick<TradeRequest, "maxPaths" | "maxLegs" | "directOnly" | "venues" | "excludeVenues">;

/** The bounds that a request sets on its route. */
export function routeBoundsOf(asked: Asked): RouteBounds {
  const { maxPaths = MOST_PATHS, directOnly, venues = [], excludeVenues = [] } = asked;
  const maxLegs = directOnly === true ? 1 : (asked.maxLegs ?? MOST_LEGS);
  if (venues.length === 0 && excludeVenues.length === 0) {
    if (maxPaths === MOST_PATHS && maxLegs === MOST_LEGS) return UNBOUNDED;
    return { maxPaths, maxLegs, allows: undefined, key: "" };
  }
  const only = new Set(venues);
  const without = new Set(excludeVenues);
  const allows = (venue: string) => (only.size === 0 || only.has(venue)) && !without.has(venue);
  return { maxPaths, maxLegs, allows, key: `${[...only].sort()}-${[...without].sort()}` };
}

/**
 * Checks the venues that a request names.
 *
 * @param known ids of all venues
 * @throws TradewireError VALIDATION_ERROR for an unknown venue, or if none is left
 */
export function checkVenueNames(asked: Asked, known: readonly string[]): void {
  const { venues = [], excludeVenues = [] } = asked;
  if (venues.length === 0 && excludeVenues.length === 0) return;
  for (const name of venues) if (!known.includes(name)) throw unknownVenue("venues", name, known);
  for (const name of excludeVenues) if (!known.includes(name)) throw unknownVenue("excludeVenues", name, known);
  const { allows } = routeBoundsOf(asked);
  if (!known.some((venue) => allows!(venue))) {
    throw invalidField("excludeVenues", "excludeVenues leaves no venue to trade on.");
  }
}

function unknownVenue(field: string, name: string, known: readonly string[]): TradewireError {
  const shown = JSON.stringify(name.slice(0, 64));
  return invalidField(field, `${field} names ${shown}, which is not a venue. Venues are ${known.join(", ")}.`);
}

/** Pairs without the venues that a request leaves out. Kept, because caches of a pair use its object as key. */
const allowedOf = new WeakMap<PairMarkets, Map<string, PairMarkets>>();
/** Sets of venues remembered per pair. */
const MOST_KEPT = 32;

/** The pair with the allowed venues only. */
export function onlyAllowed(pair: PairMarkets, bounds: RouteBounds): PairMarkets {
  const { allows, key } = bounds;
  if (allows === undefined) return pair;
  let kept = allowedOf.get(pair);
  if (kept === undefined || kept.size >= MOST_KEPT) {
    kept = new Map();
    allowedOf.set(pair, kept);
  }
  let filtered = kept.get(key);
  if (filtered === undefined) {
    filtered = {
      markets: pair.markets.filter(({ venue }: HotMarket) => allows(venue.id)),
      faults: pair.faults.filter(({ venue }) => allows(venue)),
      searched: pair.searched.filter((venue) => allows(venue)),
    };
    kept.set(key, filtered);
  }
  return filtered;
}
