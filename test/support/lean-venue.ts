import type { Venue } from "../../src/venues/venue.ts";

/** A venue every other swap of which names no arrays that are only for prices that move far, and how many name fewer for it. */
export function oftenLean<V extends Venue>(venue: V): { readonly venue: V; readonly leaner: () => number } {
  let quotes = 0;
  let leaner = 0;
  const quote: Venue["quote"] = (state, ask) => {
    const quoted = venue.quote(state, ask);
    const lean = quotes++ % 2 === 0 ? venue.lean?.(state, quoted) : undefined;
    if (lean !== undefined) leaner++;
    return lean ?? quoted;
  };
  return { venue: { ...venue, quote }, leaner: () => leaner };
}
