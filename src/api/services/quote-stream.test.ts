import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { QuotedTrade } from "../../trade/trade.ts";
import { watchQuote } from "./quote-stream.ts";

/** A stream of prices, each of which differs from the one before while `moves`. */
function watching() {
  const market = { output: 100n, moves: false, refuses: false, worstCases: 0 };
  const closing = new AbortController();
  const quoted = (worstCase: object | undefined) =>
    ({ estimates: { inAmount: 1n, outAmount: market.output, worstCase }, route: [] }) as unknown as QuotedTrade;
  const price = async () => {
    if (market.moves) market.output++;
    return quoted(undefined);
  };
  const withWorstCase = async () => {
    market.worstCases++;
    if (market.refuses) throw new TradewireError("RATE_LIMIT_EXCEEDED", "Too many worst cases were asked for.");
    return quoted({});
  };
  const stream = watchQuote({ price, withWorstCase }, () => undefined, closing.signal);
  return { market, stream, end: () => closing.abort() };
}

const wait = (ms: number) => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("worst cases are computed for prices that differ alone, and a refusal skips a price instead of ending the stream", async () => {
  const { market, stream, end } = watching();
  expect((await stream.next()).value?.estimates.worstCase).toBeDefined();
  const next = stream.next();
  await wait(1_200);
  expect(market.worstCases).toBe(1);
  market.refuses = true;
  market.moves = true;
  await wait(700);
  expect(market.worstCases).toBeGreaterThan(1);
  market.refuses = false;
  await wait(500);
  expect((await next).value?.estimates).toMatchObject({ worstCase: {} });
  end();
});

test("a stream whose first worst case is refused does not begin", async () => {
  const { market, stream } = watching();
  market.refuses = true;
  await expect(stream.next()).rejects.toMatchObject({ code: "RATE_LIMIT_EXCEEDED" });
});
