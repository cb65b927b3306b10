import { background } from "../primitives/turns/background.ts";
import type { MarketWatch } from "./market-watch.ts";
import { ROUNDS_AFTER_SEARCH } from "./search/discovery.ts";

/**
 * Reads what the markets still lack, in at most the allowed rounds, all markets together in each.
 *
 * @param foundSinceMs see `MarketWatch.knownAlone`. Epoch milliseconds
 * @throws TradewireError UPSTREAM_ERROR
 */
export async function completeWatches(
  watches: readonly MarketWatch[],
  foundSinceMs = Number.POSITIVE_INFINITY,
): Promise<void> {
  for (let round = 0; round < ROUNDS_AFTER_SEARCH; round++) {
    const reads = watches.flatMap((watch) => {
      const reading = watch.read();
      if (reading.kind !== "lacking") return [];
      const { addresses } = reading;
      return [watch.hold(addresses, watch.knownAlone(addresses, foundSinceMs))];
    });
    if (reads.length === 0) return;
    await Promise.all(reads);
    // The answers with these accounts have used up this turn.
    await background.next();
  }
}
