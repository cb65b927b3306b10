// Trades whose end is open, kept for this tab until they are decided: a page that is loaded again finds them and follows them on.

const PLACE = "tradewire-trade";

/**
 * Keeps a submitted trade: what it was, and the signed bytes, which can be submitted any number of times.
 *
 * @param trade plain data @param credentials the API key and its id, only while the page goes away
 */
export function keepTrade(trade, credentials) {
  write([...others(trade), { trade, credentials }]);
}

/** The trades of this tab that were not decided, oldest first, with the credentials that a page left. Those are taken out. */
export function takeTrades() {
  const kept = read();
  if (kept.length > 0) write(kept.map(({ trade }) => ({ trade })));
  return kept;
}

export function forgetTrade(trade) {
  write(others(trade));
}

const others = ({ signature }) => read().filter(({ trade }) => trade.signature !== signature);

function read() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(PLACE) ?? "[]");
    return Array.isArray(kept) ? kept.filter(({ trade }) => typeof trade?.signature === "string") : [];
  } catch {
    return [];
  }
}

function write(kept) {
  try {
    if (kept.length === 0) sessionStorage.removeItem(PLACE);
    else sessionStorage.setItem(PLACE, JSON.stringify(kept));
  } catch {
    // A browser that stores nothing: the trade goes on, and its history shows it.
  }
}
