import { TradewireError } from "../../errors/tradewire-error.ts";
import type { HotMarket, MarketFault } from "../../market/port.ts";
import type { Quote, SwapLeg, SwapTerms } from "../../venues/venue.ts";

/** The venue's code cannot make the instructions of its own quote. */
export class UnbuildableMarket extends Error {
  /** As callers may read it. */
  readonly fault: MarketFault;

  constructor({ venue, market }: HotMarket, cause: unknown) {
    super(`${venue.id} ${market.address} cannot be traded`, { cause });
    const reason = cause instanceof TradewireError ? cause.message : "our code cannot make its instructions";
    this.fault = { venue: venue.id, market: market.address.toString(), reason, isWithheld: true };
  }
}

/** The instructions of a market's quote. @throws UnbuildableMarket whatever the venue throws */
export function swapLegOf(hot: HotMarket, quote: Quote, terms: SwapTerms): SwapLeg {
  try {
    return hot.venue.swap(hot.state, quote, terms);
  } catch (error) {
    if (!(error instanceof TradewireError)) hot.failed?.(error);
    throw new UnbuildableMarket(hot, error);
  }
}
