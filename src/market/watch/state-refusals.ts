import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Address } from "../../primitives/address.ts";
import type { MarketWatch } from "../market-watch.ts";

/**
 * A market with an account about which the nodes contradict each other. One is enough to stop its pair: if it were left out, a node that
 * lies about good markets could choose where trades go.
 */
export function contestedAmong(
  watches: readonly MarketWatch[],
  contested: ReadonlySet<Address>,
): MarketWatch | undefined {
  if (contested.size === 0) return undefined;
  return watches.find(({ held }) => [...held].some((address) => contested.has(address)));
}

/** Refuses a pair for the state of this market. */
export function contestedState({ venue, address }: MarketWatch): TradewireError {
  return new TradewireError(
    "STATE_STALE",
    `The Solana nodes contradict each other about ${venue.id} market ${address}; nothing is built on it until they agree. Try again shortly.`,
    { retryAfterMs: 1_000 },
  );
}

/** Refuses a pair for the age of its state. @param ageMs milliseconds */
export function staleState(ageMs: number): TradewireError {
  return new TradewireError(
    "STATE_STALE",
    `The newest known state of the chain is ${Math.round(ageMs)} ms old, too old to build on. Try again shortly.`,
    { retryAfterMs: 400 },
  );
}

/** Refuses a pair because a change of one of its accounts is known of which no node has reported the state. */
export function lateState(): TradewireError {
  return new TradewireError(
    "STATE_STALE",
    "A market of the pair has changed, and no Solana node has reported its new state yet. Try again shortly.",
    { retryAfterMs: 400 },
  );
}
