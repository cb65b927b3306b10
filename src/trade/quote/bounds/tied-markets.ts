import type { HotMarket } from "../../../market/port.ts";
import { compareAddresses } from "../../../primitives/address.ts";

/** The order of markets that make the same trade: by venue name, then by market address. */
export function compareTied(a: HotMarket, b: HotMarket): number {
  if (a.venue.id !== b.venue.id) return a.venue.id < b.venue.id ? -1 : 1;
  return compareAddresses(a.market.address, b.market.address);
}
