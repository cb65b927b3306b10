import { describe, expect, it } from "vitest";
import { createRandom } from "../../src/primitives/random.ts";
import { venues } from "../../src/venues/registry.ts";
import { isWhole } from "../support/whole.ts";
import { worldOnSvm } from "../support/world.ts";
import { checkSandwich, type SandwichKind } from "./sandwiches.ts";

const SEED = 20_261_122;
const TRADES_PER_MARKET = isWhole ? 12 : 2;
const DRAWN_SIZES = isWhole ? 400 : 60;

const { world, svm } = worldOnSvm(SEED);
const victim = svm.newWallet(1n << 60n);
const attacker = svm.newWallet(1n << 60n);

describe.each(venues.filter(({ id }) => world.tokens.some(({ venue }) => venue === id)))("$id", (venue) => {
  const tokens = world.tokens.filter((token) => token.venue === venue.id);

  it("says to the base unit what trading around a swap takes, and no other size takes more", () => {
    const random = createRandom(SEED);
    const kinds: Partial<Record<SandwichKind, number>> = {};
    for (const { market, mint, quoteMint } of tokens) {
      for (let trade = 0; trade < TRADES_PER_MARKET; trade++) {
        const pair = { a: mint, b: quoteMint };
        const kind = checkSandwich({ svm, venue, market, pair, random, victim, attacker, drawnSizes: DRAWN_SIZES });
        expect(kind).not.toBe("unknown");
        kinds[kind] = (kinds[kind] ?? 0) + 1;
      }
    }
    console.log(`${venue.id}: ${JSON.stringify(kinds)}`);
    expect(kinds.profitable ?? 0).toBeGreaterThan(0);
  });
});
