import type { HubChoice } from "../port.ts";

/** What is remembered of the hubs of a pair. Written again in place: a new object for an old pair costs the collector more than its fields. */
export interface RememberedHubs {
  choice: HubChoice;
  /** `WatchedPairs.filled` and `FoundHubs.measurements` at that time: either may open a way. */
  filled: number;
  measurements: number;
  /** By `sinceStart`. */
  untilMs: number;
}
