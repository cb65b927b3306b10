import { TradewireError } from "../../errors/tradewire-error.ts";
import { OneATurn } from "../../primitives/turns/one-a-turn.ts";
import { sleep } from "../../trade/submit/waiting.ts";
import type { QuotedTrade } from "../../trade/trade.ts";

/** Pause between two prices of a stream. Milliseconds. */
const PRICE_EVERY_MS = 500;

/** Turns of the event loop for prices: thousands of streams may be due in one. */
const turns = new OneATurn();

interface WatchedPrice {
  readonly price: () => Promise<QuotedTrade>;
  /** The same with its worst case, if that was asked for. It is computed for prices that differ alone, within a budget of its own. */
  readonly withWorstCase: (() => Promise<QuotedTrade>) | undefined;
}

/**
 * A price now, and again whenever it differs, until `signal` aborts.
 *
 * @param takeTurn throws if the caller may not have a price now: then there is no stream, and later only a turn is skipped
 * @throws what `takeTurn` throws at first, and what `price` throws; what `withWorstCase` throws, but refusals only at first
 */
export async function* watchQuote(
  { price, withWorstCase }: WatchedPrice,
  takeTurn: () => void,
  signal: AbortSignal,
): AsyncGenerator<QuotedTrade> {
  let sent: string | undefined;
  for (;;) {
    await turns.next();
    if (signal.aborted) return;
    if (sent === undefined || hasTurn(takeTurn)) {
      if (sent === undefined) takeTurn();
      const plain = await price();
      const isFirst = sent === undefined;
      const isNews = markOf(plain) !== sent;
      const quoted = isNews && withWorstCase !== undefined ? await unlessRefused(withWorstCase, isFirst) : plain;
      if (isNews && quoted !== undefined) {
        sent = markOf(quoted);
        yield quoted;
      }
    }
    await sleep(PRICE_EVERY_MS, signal);
  }
}

/** The price; undefined if others, or the caller, have used up what there is of worst cases, and it is not the first. */
async function unlessRefused(price: () => Promise<QuotedTrade>, isFirst: boolean): Promise<QuotedTrade | undefined> {
  try {
    return await price();
  } catch (error) {
    const code = error instanceof TradewireError ? error.code : undefined;
    if (!isFirst && (code === "RATE_LIMIT_EXCEEDED" || code === "OVERLOADED")) return undefined;
    throw error;
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

/** Equal for equal prices. */
function markOf({ estimates, route, needsOpenAccounts }: QuotedTrade): string {
  const { inAmount, outAmount, threshold, priceImpact } = estimates;
  return [inAmount, outAmount, threshold, priceImpact, needsOpenAccounts, ...route.map(({ market }) => market)].join(
    " ",
  );
}
