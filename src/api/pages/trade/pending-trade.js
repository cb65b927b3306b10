// A trade whose end is open, kept for this tab until it is decided: a page that is loaded again finds it and follows it on.

const PLACE = "tradewire-trade";

/**
 * Keeps a submitted trade: what it was, and the signed bytes, which can be submitted any number of times.
 *
 * @param trade plain data @param credentials the API key and its id, only while the page goes away
 */
export function keepTrade(trade, credentials) {
  try {
    sessionStorage.setItem(PLACE, JSON.stringify({ trade, credentials }));
  } catch {
    // A browser that stores nothing: the trade goes on, and its history shows it.
  }
}

/** The trade of this tab that was not decided, with the credentials that a page left; undefined if there is none. Those are taken out. */
export function takeTrade() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(PLACE) ?? "null");
    if (typeof kept?.trade?.signature !== "string") return undefined;
    keepTrade(kept.trade);
    return kept;
  } catch {
    return undefined;
  }
}

export function forgetTrade() {
  try {
    sessionStorage.removeItem(PLACE);
  } catch {
    // Nothing was kept there.
  }
}
