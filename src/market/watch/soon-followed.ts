/** A market whose change can be followed without a read. */
export interface FollowingMarket {
  /** Never throws. */
  followChange(): void;
}

/** The markets that changed in this turn of the loop. Serves every pair. */
let due: FollowingMarket[] = [];

/**
 * Has the market follow its change once the loop has no more of the turn's notices: what has just come is in the processor's caches, and
 * a trade changes several accounts of a market at once.
 */
export function followSoon(market: FollowingMarket): void {
  if (due.push(market) === 1) queueMicrotask(followAll);
}

function followAll(): void {
  const markets = due;
  due = [];
  for (const market of markets) market.followChange();
}
