import type { HubChoice } from "../port.ts";

/** Remembered hubs of a pair. Updated in place: a new object for an old pair costs the collector more than its fields. */
export interface RememberedHubs {
  choice: HubChoice;
  /** `WatchedPairs.filled` and `FoundHubs.measurements` at that time: a change of either may open a route. */
  filled: number;
  measurements: number;
  /** By `sinceStart`. */
  untilMs: number;
}
