import type { Address } from "../primitives/address.ts";
import type { MarketFault } from "./port.ts";

const NONE: readonly MarketFault[] = [];

/** Markets of a pair that are not among the best and so are not kept live. */
export class PassedOver {
  /** Undefined while there are none, as of most pairs. */
  #markets: Map<Address, { readonly venue: string; readonly atMs: number }> | undefined;

  /** @param atMs when the market was compared with the others, epoch milliseconds */
  add(market: Address, venue: string, atMs: number): void {
    this.#markets ??= new Map();
    this.#markets.set(market, { venue, atMs });
  }

  delete(market: Address): void {
    this.#markets?.delete(market);
  }

  /** Forgets markets that were passed over then or earlier (epoch milliseconds): those that still exist are found again. */
  forgetBefore(sinceMs: number): void {
    if (this.#markets === undefined) return;
    for (const [market, { atMs }] of this.#markets) if (atMs <= sinceMs) this.#markets.delete(market);
  }

  has(market: Address): boolean {
    return this.#markets?.has(market) === true;
  }

  /** How many markets of each venue are left out, for callers. */
  faults(): readonly MarketFault[] {
    if (this.#markets === undefined) return NONE;
    const counts = new Map<string, number>();
    for (const { venue } of this.#markets.values()) counts.set(venue, (counts.get(venue) ?? 0) + 1);
    return [...counts].map(([venue, count]) => ({
      venue,
      market: undefined,
      reason: `${count} of its markets give less than those kept live, or cannot be traded`,
    }));
  }
}
