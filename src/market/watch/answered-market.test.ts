import { expect, test } from "vitest";
import { readSampleMarkets } from "../../../test/support/sample-markets.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { maxOf } from "../../primitives/integer.ts";
import { createRandom } from "../../primitives/random.ts";
import { SOL_MINT } from "../../solana/programs.ts";
import { rankMarkets } from "../../trade/quote/ranking.ts";
import { spotBoundOf } from "../../venues/spot-bound.ts";
import type { HotMarket } from "../port.ts";
import { AnsweredMarket } from "./answered-market.ts";

const random = createRandom(1_766);
const { mint, clock, markets: samples } = readSampleMarkets();

/** A market of a sample that is read when it is asked for, or cannot be. */
function answered(
  { venue, hot, accounts }: (typeof samples)[number],
  terms: { readonly isReadable: boolean; readonly isBounded: boolean },
): HotMarket {
  const { market, slot } = hot;
  const facts = { venue, market, slot, backing: undefined, unitsScale: 1, refusesLean: undefined, failed: () => {} };
  const read = () => {
    if (!terms.isReadable) throw new TradewireError("VENUE_DEGRADED", "its vault is frozen");
    return hot.state;
  };
  return new AnsweredMarket(facts, {
    read,
    spot: terms.isBounded ? spotBoundOf(venue, hot.state, accounts) : undefined,
  });
}

test.each([true, false])(
  "a market that cannot be read after all is a fault, and trades go elsewhere (bounded: %s)",
  (isBounded) => {
    for (let round = 0; round < 40; round++) {
      const markets = Array.from({ length: 12 }, (_, place) =>
        answered(random.pick(samples), { isReadable: place % 3 !== 0, isBounded }),
      );
      const pair = { markets, faults: [], searched: [], line: {} };
      const [inMint, outMint] = random.chance(0.5) ? [SOL_MINT, mint] : [mint, SOL_MINT];
      const amount = random.between(1_000_000n, 8_000_000n);
      for (const least of [1, 4]) {
        for (const slots of [0n, 1n]) {
          const at = { ...clock, slot: clock.slot + slots };
          const ask = { mode: "exactIn", inMint, outMint, amount, clock: at } as const;
          const { candidates } = rankMarkets(pair, ask, false, least);
          const whole = markets.flatMap((hot, place) => {
            if (place % 3 === 0) return [];
            try {
              return [hot.venue.quote(hot.state, ask).outAmount];
            } catch {
              return [];
            }
          });
          const best = whole.reduce(maxOf, 0n);
          expect(candidates[0]?.quote.outAmount ?? 0n).toBe(best);
        }
      }
    }
  },
);
