import type { Venue } from "./venue.ts";

/**
 * The venue with all members in one order, undefined for those it does not have. A build looks up some ten members: of objects of one shape
 * the engine knows where they are, of eleven shapes it asks a table that is mostly in no cache of the processor.
 */
export function sameShape(venue: Venue): Venue {
  const every: { readonly [member in keyof Required<Venue>]: Venue[member] | undefined } = {
    id: venue.id,
    programs: venue.programs,
    supports: venue.supports,
    calls: venue.calls,
    search: venue.search,
    searchMint: venue.searchMint,
    decode: venue.decode,
    decoded: venue.decoded,
    needs: venue.needs,
    read: venue.read,
    quote: venue.quote,
    isTimeless: venue.isTimeless,
    spot: venue.spot,
    after: venue.after,
    traded: venue.traded,
    replay: venue.replay,
    signedAsk: venue.signedAsk,
    leastArriving: venue.leastArriving,
    older: venue.older,
    lean: venue.lean,
    swap: venue.swap,
    arrayNumbers: venue.arrayNumbers,
    errors: venue.errors,
  };
  return every as Venue;
}
