import type { HubChoice } from "../port.ts";

/** What is remembered of the hubs of a pair. */
export interface RememberedHubs {
  readonly choice: HubChoice;
  /** `WatchedPairs.filled` and `FoundHubs.measurements` at that time: either may open a way. */
  readonly filled: number;
  readonly measurements: number;
  /** By `sinceStart`. */
  readonly untilMs: number;
}
