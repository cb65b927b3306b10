import { describe, expect, it } from "vitest";
import { TradewireError } from "../../src/errors/tradewire-error.ts";
import { createRandom } from "../../src/primitives/random.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { type Candidate, compareCandidates, rankMarkets } from "../../src/trade/quote/ranking.ts";
import { venues } from "../../src/venues/registry.ts";
import type { Ask, SwapMode } from "../../src/venues/venue.ts";
import { readSampleMarkets } from "../support/sample-markets.ts";
import { isWhole } from "../support/whole.ts";

const ROUNDS = isWhole ? 600 : 200;

const { mint, clock, markets } = readSampleMarkets();
const hot = markets.map((one) => one.hot);

function best(ask: Ask): Candidate | undefined {
  const all = hot.flatMap((one): Candidate[] => {
    try {
      return [{ hot: one, quote: one.venue.quote(one.state, ask) }];
    } catch (error) {
      if (error instanceof TradewireError) return [];
      throw error;
    }
  });
  return all.sort(compareCandidates)[0];
}

describe("many markets of one mint, on every venue", () => {
  it("has samples of every venue", () => {
    expect(new Set(markets.map(({ venue }) => venue.id))).toEqual(new Set(venues.map(({ id }) => id)));
  });

  it("chooses the market that an exhaustive search chooses", () => {
    const random = createRandom(3);
    const pair = { markets: hot, faults: [], searched: [] };
    for (let round = 0; round < ROUNDS; round++) {
      const [inMint, outMint] = random.chance(0.5) ? [SOL_MINT, mint] : [mint, SOL_MINT];
      const mode: SwapMode = random.chance(0.5) ? "exactIn" : "exactOut";
      const ask: Ask = { mode, inMint, outMint, amount: random.magnitude(20_000_000_000_000n), clock };
      const expected = best(ask);
      // Beside others, and if only the best one counts.
      for (const least of [4, 1]) {
        const chosen = rankMarkets(pair, ask, false, least).candidates[0];
        expect([chosen?.hot.market.address, chosen?.quote.inAmount, chosen?.quote.outAmount]).toEqual([
          expected?.hot.market.address,
          expected?.quote.inAmount,
          expected?.quote.outAmount,
        ]);
      }
    }
  });
});
