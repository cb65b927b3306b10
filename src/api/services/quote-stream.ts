import { sleep } from "../../trade/submit/waiting.ts";
import type { QuotedTrade } from "../../trade/trade.ts";

/** Pause between two prices of a stream. Milliseconds. */
const PRICE_EVERY_MS = 500;

/**
 * A price now, and again whenever it differs, until `signal` aborts.
 *
 * @param takeTurn throws if the caller may not have a price now: then there is no stream, and later only a turn is skipped
 * @throws what `takeTurn` throws at first, and what `price` throws
 */
export async function* watchQuote(
  price: () => Promise<QuotedTrade>,
  takeTurn: () => void,
  signal: AbortSignal,
): AsyncGenerator<QuotedTrade> {
  let sent: string | undefined;
  while (!signal.aborted) {
    if (sent === undefined || hasTurn(takeTurn)) {
      if (sent === undefined) takeTurn();
      const quoted = await price();
      const mark = markOf(quoted);
      if (mark !== sent) {
        sent = mark;
        yield quoted;
      }
    }
    await sleep(PRICE_EVERY_MS, signal);
  }
}

function hasTurn(takeTurn: () => void): boolean {
  try {
    takeTurn();
    return true;
  } catch {
    return false;
  }
}

/** What makes two prices the same. */
function markOf({ estimates, route, needsOpenAccounts }: QuotedTrade): string {
  const { inAmount, outAmount, threshold, priceImpact } = estimates;
  return [inAmount, outAmount, threshold, priceImpact, needsOpenAccounts, ...route.map(({ market }) => market)].join(
    " ",
  );
}
