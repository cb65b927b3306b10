import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Market, VenueId } from "../venue.ts";

/** A trade that rounds to nothing. */
export function tooSmall(): TradewireError {
  return new TradewireError("VALIDATION_ERROR", "the amount is too small: it trades for nothing", { field: "amount" });
}

/** A trade so small that builds of the program round it differently. */
export function dust(): TradewireError {
  const reason = "the amount is too small: builds of the venue's program differ in how they round its fee";
  return new TradewireError("VALIDATION_ERROR", reason, { field: "amount" });
}

/** A trade larger than the market can give. */
export function tooLarge({ venue, address }: Market): TradewireError {
  return new TradewireError("INSUFFICIENT_LIQUIDITY", `${venue} market ${address} does not hold enough for this trade`);
}

/** A trade that needs more of the market than the accounts of one swap reach. */
export function outOfReach({ venue, address }: Market): TradewireError {
  return new TradewireError(
    "INSUFFICIENT_LIQUIDITY",
    `${venue} market ${address} does not hold enough within reach of one swap`,
  );
}

/** A market that does not trade now; `why` completes the sentence that begins with its address. */
export function notTrading({ venue, address }: Market, why: string): TradewireError {
  return new TradewireError("NO_ROUTE", `${venue} market ${address} ${why}`);
}

/** An account that does not match the program's layout. */
export function degraded(venue: VenueId, why: string): TradewireError {
  return new TradewireError("VENUE_DEGRADED", `${venue}: ${why}`);
}
