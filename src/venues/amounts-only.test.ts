import { expect, test } from "vitest";
import { readSampleMarkets } from "../../test/support/sample-markets.ts";
import { TradewireError } from "../errors/tradewire-error.ts";
import { createRandom } from "../primitives/random.ts";
import { SOL_MINT } from "../solana/programs.ts";
import type { Ask } from "./venue.ts";

const random = createRandom(1_718);
const { mint, clock, markets } = readSampleMarkets();
const ASKS = 12;

/** The quote, or the refusal. */
function answerOf({ venue, hot }: (typeof markets)[number], ask: Ask): unknown {
  try {
    return venue.quote(hot.state, ask);
  } catch (error) {
    if (error instanceof TradewireError) return { code: error.code, message: error.message };
    throw error;
  }
}

test(`a quote of amounts only has the amounts, the fill and the refusals of any other, over ${ASKS} asks a market`, () => {
  let spared = 0;
  for (const market of markets) {
    for (let round = 0; round < ASKS; round++) {
      const [inMint, outMint] = random.chance(0.5) ? [SOL_MINT, mint] : [mint, SOL_MINT];
      const mode = market.venue.supports.exactOut && random.chance(0.3) ? "exactOut" : "exactIn";
      const ask: Ask = { mode, inMint, outMint, amount: random.magnitude(10n ** 12n) + 1n, clock };
      const whole = answerOf(market, ask) as { readonly priceImpact?: number };
      const lean = answerOf(market, { ...ask, amountsOnly: true });
      expect(whole.priceImpact === undefined ? lean : { ...(lean as object), priceImpact: whole.priceImpact }).toEqual(
        whole,
      );
      if ((whole.priceImpact ?? 0) > 0) spared += (lean as { readonly priceImpact: number }).priceImpact === 0 ? 1 : 0;
    }
  }
  expect(spared).toBeGreaterThan(markets.length);
});
