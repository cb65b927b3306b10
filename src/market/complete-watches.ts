import { background } from "../primitives/turns/background.ts";
import type { MarketWatch } from "./market-watch.ts";
import { ROUNDS_AFTER_SEARCH } from "./search/discovery.ts";

/**
 * Reads what the markets still lack, in at most the allowed rounds, all markets together in each.
 * @throws TradewireError UPSTREAM_ERROR
 */
export async function completeWatches(watches: readonly MarketWatch[]): Promise<void> {
  for (let round = 0; round < ROUNDS_AFTER_SEARCH; round++) {
    const reads = watches.flatMap((watch) => {
      const reading = watch.read();
      return reading.kind === "lacking" ? [watch.hold(reading.addresses)] : [];
    });
    if (reads.length === 0) return;
    await Promise.all(reads);
    // The answers that brought them have had this turn.
    await background.next();
  }
}
