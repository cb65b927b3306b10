/** A market whose change can be followed without a read. */
export interface FollowingMarket {
  /** Never throws. */
  followChange(): void;
}

/** The markets that changed in this turn of the loop. Serves every pair. */
let due: FollowingMarket[] = [];

/**
 * Lets the market follow its change after the last notice of this turn: the new data is still in the processor's caches, and a trade
 * changes several accounts of a market at once.
 */
export function followSoon(market: FollowingMarket): void {
  if (due.push(market) === 1) queueMicrotask(followAll);
}

function followAll(): void {
  const markets = due;
  due = [];
  for (const market of markets) market.followChange();
}
