import type { AccountReader } from "../../src/chain/port.ts";
import { discoverMarkets } from "../../src/market/search/discovery.ts";
import { subjectsOf } from "../../src/market/search/search-subject.ts";
import { DEFAULT_SEARCH_BUDGET, SearchTurns } from "../../src/market/search/search-turns.ts";
import { SubjectSearches } from "../../src/market/search/subject-search.ts";
import { OneATurn } from "../../src/primitives/turns/one-a-turn.ts";
import type { MintPair, Venue } from "../../src/venues/venue.ts";

/** Searches the chain for the markets of a pair that nothing is known of. */
export async function discoverCold(
  pair: MintPair,
  { reader, venues }: { readonly reader: AccountReader; readonly venues: readonly Venue[] },
) {
  const now = Date.now;
  const turns = new SearchTurns({ budget: DEFAULT_SEARCH_BUDGET, now, networkOf: (address) => address });
  const pace = new OneATurn();
  const searches = new SubjectSearches({ reader, venues, turns, pace, now });
  const begun = await Promise.all(subjectsOf(pair).map((subject) => searches.begin(subject, undefined)));
  const options = { reader, searches, venues, pace, now, warn: () => undefined, maxFound: 100 };
  return discoverMarkets(pair, { indexed: [], searches: begun }, options);
}
