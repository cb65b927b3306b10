import { expect, test } from "vitest";
import { readSampleMarkets } from "../../test/support/sample-markets.ts";
import { TradewireError } from "../errors/tradewire-error.ts";
import { createRandom } from "../primitives/random.ts";
import { SOL_MINT } from "../solana/programs.ts";
import type { Ask } from "./venue.ts";

const random = createRandom(1_712);
const { mint, clock, markets } = readSampleMarkets();
const timeless = markets.filter(({ venue, hot }) => venue.isTimeless?.(hot.state) === true);

/** The quote, or the code of its refusal. */
function answerOf({ venue, hot }: (typeof markets)[number], ask: Ask): unknown {
  try {
    return venue.quote(hot.state, ask);
  } catch (error) {
    if (error instanceof TradewireError) return error.code;
    throw error;
  }
}

/** A trade of any size, either way. */
function anyAsk(): Ask {
  const [inMint, outMint] = random.chance(0.5) ? [SOL_MINT, mint] : [mint, SOL_MINT];
  const mode = random.chance(0.8) ? "exactIn" : "exactOut";
  return { mode, inMint, outMint, amount: random.magnitude(10n ** 13n) + 1n, clock };
}

test.each(timeless.map((market) => [market.name, market] as const))(
  "a quote of %s is the same at every later moment of the epoch",
  (_, market) => {
    const isServed = market.venue.supports.exactOut;
    for (let round = 0; round < 200; round++) {
      const ask = anyAsk();
      if (ask.mode === "exactOut" && !isServed) continue;
      const [slots, seconds] = [random.magnitude(10n ** 6n), random.magnitude(10n ** 7n)];
      const later = { ...clock, slot: clock.slot + slots, unixTimestamp: clock.unixTimestamp + seconds };
      expect(answerOf(market, { ...ask, clock: later })).toEqual(answerOf(market, ask));
    }
  },
);

test("most venues have such markets", () => {
  expect(new Set(timeless.map(({ venue }) => venue.id)).size).toBeGreaterThanOrEqual(6);
});
