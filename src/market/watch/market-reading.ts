import type { Address } from "../../primitives/address.ts";
import type { VenueId } from "../../venues/venue.ts";
import type { HotMarket, MarketFault } from "../port.ts";

/** A watched market: ready to trade on, at fault, or short of accounts that are still to be read. */
export type MarketReading =
  | { readonly kind: "hot"; readonly hot: HotMarket }
  | { readonly kind: "fault"; readonly fault: MarketFault; readonly closed: boolean }
  | { readonly kind: "lacking"; readonly addresses: readonly Address[] };

/** The reading of a market that cannot be traded on now. */
export function faultOf(
  venue: VenueId,
  address: Address,
  reason: string,
  { closed = false, isWithheld = false }: { readonly closed?: boolean; readonly isWithheld?: boolean },
): MarketReading {
  const fault = { venue, market: address.toString(), reason };
  return { kind: "fault", fault: isWithheld ? { ...fault, isWithheld } : fault, closed };
}
