import { expect, test } from "vitest";
import { bestOf } from "../../../../test/support/best-market.ts";
import { readSampleMarkets } from "../../../../test/support/sample-markets.ts";
import type { HotMarket } from "../../../market/port.ts";
import { createRandom } from "../../../primitives/random.ts";
import type { ChainClock } from "../../../solana/account.ts";
import { SOL_MINT } from "../../../solana/programs.ts";
import type { Ask } from "../../../venues/venue.ts";
import { rankMarkets } from "../ranking.ts";

const random = createRandom(1_723);
const { mint, clock: start, markets: samples } = readSampleMarkets();
const MARKETS = 48;
const TRADES = 150;

/** A market as it is after a change: a new object, with the state of a sample. */
function anyMarket(): HotMarket {
  const { venue, hot } = random.pick(samples);
  return { ...hot, isTimeless: venue.isTimeless?.(hot.state) === true };
}

/** Later by no slot, by one, or by more than bounds live. */
function later({ slot, epoch, unixTimestamp }: ChainClock): ChainClock {
  const slots = random.pick([0n, 0n, 0n, 1n, 3n, 40n]);
  return { slot: slot + slots, epoch, unixTimestamp: unixTimestamp + slots / 2n };
}

test(`the best market is the one that quoting all finds, over ${TRADES} trades with changes between them`, () => {
  const line = {};
  let clock = start;
  let markets: readonly HotMarket[] = Array.from({ length: MARKETS }, anyMarket);
  for (let trade = 0; trade < TRADES; trade++) {
    clock = later(clock);
    const changes = random.pick([0, 0, 1, 1, 2, 5, MARKETS]);
    if (changes > 0) {
      const changed = [...markets];
      for (let change = 0; change < changes; change++) changed[random.u32() % MARKETS] = anyMarket();
      markets = changed;
    }
    const [inMint, outMint] = random.chance(0.8) ? [SOL_MINT, mint] : [mint, SOL_MINT];
    const amount = random.between(1_000_000n, 8_000_000n);
    const ask: Ask = { mode: "exactIn", inMint, outMint, amount, clock };
    const { candidates } = rankMarkets({ markets, faults: [], searched: [], line }, ask, false, 1);
    const best = bestOf(markets, ask);
    expect(candidates[0]?.quote.outAmount, `trade ${trade}`).toBe(best?.quote.outAmount);
    expect(candidates[0]?.hot.market.address).toBe(best?.hot.market.address);
  }
});
