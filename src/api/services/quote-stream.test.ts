import { afterEach, beforeEach, expect, it } from "vitest";
import type { QuotedTrade } from "../../trade/trade.ts";
import { watchQuote } from "./quote-stream.ts";

const STREAMS = 400;
/** Prices that are late share a turn. */
const MOST_IN_TURN = 8;

/** Turns of the event loop so far. */
let turn = 0;
let counting: NodeJS.Immediate;
const count = () => {
  turn += 1;
  counting = setImmediate(count);
};
beforeEach(count);
afterEach(() => clearImmediate(counting));

it("makes a few prices in a turn of the loop, however many streams are due", async () => {
  const closing = new AbortController();
  const made = new Map<number, number>();
  let amount = 0n;
  const price = async () => {
    made.set(turn, (made.get(turn) ?? 0) + 1);
    const estimates = { inAmount: 1n, outAmount: amount, threshold: 1n, priceImpact: 0 };
    return { estimates, needsOpenAccounts: false, route: [] } as unknown as QuotedTrade;
  };
  const received: bigint[][] = [];
  const streams = Array.from({ length: STREAMS }, async (_, i) => {
    received[i] = [];
    for await (const { estimates } of watchQuote({ price, withWorstCase: undefined }, () => {}, closing.signal))
      received[i].push(estimates.outAmount);
  });
  await expect.poll(() => received.every((prices) => prices.length === 1)).toBe(true);
  amount = 1n;
  await expect.poll(() => received.every((prices) => prices.length === 2)).toBe(true);
  closing.abort();
  await Promise.all(streams);
  expect(Math.max(...made.values())).toBeLessThanOrEqual(MOST_IN_TURN);
});
