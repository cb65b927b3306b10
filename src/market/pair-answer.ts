import type { HotMarket, MarketFault, PairMarkets } from "./port.ts";
import type { WatchedPair } from "./watched-pairs.ts";

/** What is in memory of the pair's markets; undefined while one of them still lacks accounts. */
export function wholeAnswer(pair: WatchedPair): PairMarkets | undefined {
  for (const watch of pair.watches) if (watch.read().kind === "lacking") return undefined;
  return finalAnswer(pair);
}

/** What is in memory of the pair's markets after the last round of reads: one that still lacks accounts is at fault. */
export function finalAnswer({ watches, searchFaults, searched }: WatchedPair): PairMarkets {
  const markets: HotMarket[] = [];
  const faults: MarketFault[] = [...searchFaults];
  for (const watch of watches) {
    const reading = watch.read();
    if (reading.kind === "hot") markets.push(reading.hot);
    else if (reading.kind === "fault") faults.push(reading.fault);
    else
      faults.push({
        venue: watch.venue.id,
        market: watch.address.toString(),
        reason: "needs more rounds of reads than are allowed",
      });
  }
  return { markets, faults, searched };
}
