import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createRandom } from "../../../src/primitives/random.ts";
import { runTrades } from "../../conformance/trades.ts";
import { Svm } from "../../support/svm.ts";
import { fundPlenty, installPrograms, missingFor, PLAIN_MARKETS } from "./support/open-markets.ts";

/**
 * Why limits are raised by what is measured and never lowered by it. Two rules look sound: to take from the bound the least slack
 * seen so far on this very market, or to scale it by the largest share of it used so far. Both say that the next trade uses no more
 * of its bound than those before. It does: units follow the operands of each trade (128-bit division, powers of ticks, rounds of
 * approximation), so that of two trades with the same bound one uses more, whichever came first.
 */
const present = PLAIN_MARKETS.filter((kind) => missingFor(kind).length === 0);
const HELD = 10n ** 18n;
const DEPTH = 10n ** 13n;
const TRADES = 80;
/** Trades measured before the rules are applied: more than shadow execution makes of a market in an hour. */
const MEASURED = 60;
const SEEDS = 4;

beforeEach(() => void vi.stubEnv("VENUE_RUNS", undefined));
afterEach(() => void vi.unstubAllEnvs());

describe.runIf(present.length > 0)("limits lowered by what trades on the market have used", () => {
  const broken = { slack: 0, share: 0 };

  it.each(present)("measures $name", (kind) => {
    const own = { slack: 0, share: 0, table: 0 };
    let made = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const svm = new Svm();
      installPrograms(svm, kind);
      const wallet = svm.newWallet(10n ** 15n);
      const mints = [svm.newMint({ decimals: 6, supply: HELD }), svm.newMint({ decimals: 6, supply: HELD })] as const;
      fundPlenty(svm, wallet, mints);
      const outcomes = runTrades({
        svm,
        venue: kind.venue,
        market: kind.open(svm, wallet, mints, DEPTH),
        pair: { a: mints[0], b: mints[1] },
        wallet,
        random: createRandom(seed),
        count: TRADES,
        limit: () => DEPTH / 10n,
        before: () => fundPlenty(svm, wallet, mints),
        guards: false,
        shadow: false,
      }).filter(({ executed }) => executed !== undefined);
      const before = outcomes.slice(0, MEASURED);
      const slack = Math.min(...before.map((one) => one.computeUnitBound - one.computeUnits));
      const share = Math.max(...before.map((one) => one.computeUnits / one.computeUnitBound));
      for (const { computeUnits, computeUnitBound } of outcomes.slice(MEASURED)) {
        made++;
        if (computeUnits > computeUnitBound - slack) own.slack++;
        if (computeUnits > computeUnitBound * share) own.share++;
        if (computeUnits > computeUnitBound) own.table++;
      }
    }
    console.log(
      `${kind.name} | ${made} trades, above the lowered bound: ${own.slack} by slack, ${own.share} by share; above the table's: ${own.table}`,
    );
    expect(own.table).toBe(0);
    broken.slack += own.slack;
    broken.share += own.share;
  });

  it("finds trades that each rule would have run out of units", () => {
    expect(broken.slack).toBeGreaterThan(0);
    expect(broken.share).toBeGreaterThan(0);
  });
});
