import { leanest, type Venue } from "../../src/venues/venue.ts";

/** A venue every other swap of which is lean, where it has a leaner one, and how many are. */
export function oftenLean<V extends Venue>(venue: V): { readonly venue: V; readonly leaner: () => number } {
  let quotes = 0;
  let leaner = 0;
  const quote: Venue["quote"] = (state, ask) => {
    const quoted = venue.quote(state, ask);
    const lean = quotes++ % 2 === 0 ? leanest(venue, state, quoted) : undefined;
    if (lean !== undefined) leaner++;
    return lean ?? quoted;
  };
  return { venue: { ...venue, quote }, leaner: () => leaner };
}

/** A venue each swap of which is lean, where it has a leaner one. */
export function alwaysLean<V extends Venue>(venue: V): V {
  const quote: Venue["quote"] = (state, ask) => {
    const quoted = venue.quote(state, ask);
    return leanest(venue, state, quoted) ?? quoted;
  };
  return { ...venue, quote };
}
