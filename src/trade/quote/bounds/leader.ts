import type { HotMarket } from "../../../market/port.ts";

/** The best market of those priced so far, and what it gives for an exact input, or takes for an exact output. Base units. */
export interface Leader {
  readonly hot: HotMarket;
  readonly value: bigint;
}
