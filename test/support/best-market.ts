import type { HotMarket } from "../../src/market/port.ts";
import { type Candidate, compareCandidates } from "../../src/trade/quote/ranking.ts";
import type { Ask } from "../../src/venues/venue.ts";

/** The best of all markets, each of them quoted: what a search that leaves markets out must find too. */
export function bestOf(markets: readonly HotMarket[], ask: Ask): Candidate | undefined {
  const candidates = markets.flatMap((hot): Candidate[] => {
    try {
      return [{ hot, quote: hot.venue.quote(hot.state, ask) }];
    } catch {
      return [];
    }
  });
  return candidates.sort(compareCandidates)[0];
}
