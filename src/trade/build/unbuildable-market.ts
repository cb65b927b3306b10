import { TradewireError } from "../../errors/tradewire-error.ts";
import type { HotMarket, MarketFault } from "../../market/port.ts";
import type { Quote, SwapLeg, SwapTerms } from "../../venues/venue.ts";

/** A market that the wallet cannot trade on now: mostly, the venue's code cannot make the instructions of its own quote. */
export class UnbuildableMarket extends Error {
  /** The reason as callers see it. */
  readonly fault: MarketFault;

  /** @param isWithheld false if the cause is the wallet, so that an early retry does not help */
  constructor({ venue, market }: HotMarket, cause: unknown, isWithheld = true) {
    super(`${venue.id} ${market.address} cannot be traded`, { cause });
    const reason = cause instanceof TradewireError ? cause.message : "our code cannot make its instructions";
    this.fault = { venue: venue.id, market: market.address.toString(), reason, isWithheld };
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
