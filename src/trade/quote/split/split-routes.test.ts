import { expect, test } from "vitest";
import { readSampleMarkets } from "../../../../test/support/sample-markets.ts";
import type { HotMarket, PairMarkets } from "../../../market/port.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../../../solana/programs.ts";
import type { Intent } from "../../intent.ts";
import { allAtOnce } from "../long-searches.ts";
import { pathCount, type Route } from "../route.ts";
import { routesOf, type Snapshot } from "../snapshot.ts";

const { mint, clock, markets } = readSampleMarkets();
const deep = markets.filter(({ name, venue }) => venue.id !== "meteora_damm_v1" && Number(name.split(" ").at(-1)) < 6);

/** Markets whose quotes are counted. */
function countedMarkets(count: number) {
  const quotes = { made: 0 };
  const hot = Array.from({ length: count }, (_, index): HotMarket => {
    const sample = deep[index % deep.length]!.hot;
    const quote: typeof sample.venue.quote = (state, ask) => {
      quotes.made++;
      return sample.venue.quote(state, ask);
    };
    return { ...sample, venue: { ...sample.venue, quote } };
  });
  return { hot, quotes };
}

function best(hot: readonly HotMarket[] | PairMarkets, amount: bigint, mode: Intent["mode"], maxPaths = 4): Route {
  const direct = "markets" in hot ? hot : { markets: hot, faults: [], searched: [] };
  const side = (address: typeof mint) => ({ address, program: TOKEN_PROGRAM, decimals: 9, supply: 10n ** 18n });
  const intent = {
    inMint: side(SOL_MINT),
    outMint: side(mint),
    mode,
    amount,
    slippagePpb: 0n,
    emptied: undefined,
    bounds: { maxPaths, maxLegs: 3, allows: undefined, key: "" },
  } as unknown as Intent;
  const snapshot: Snapshot = { direct, hubs: [], between: [] };
  return allAtOnce(routesOf({ searchSoon: () => undefined }, intent, snapshot, clock)).routes[0]!;
}

const AMOUNT = 1_000_000_000_000n;

test.each([12, 40])("quotes of a split stay bounded with %i markets, and are few while none changes", (count) => {
  const { hot, quotes } = countedMarkets(count);
  const pair: PairMarkets = { markets: hot, faults: [], searched: [] };
  best(pair, AMOUNT, "exactIn", 1);
  const single = quotes.made;
  best(pair, AMOUNT, "exactIn");
  expect(quotes.made - single).toBeLessThan(256 + 12 + single);
  for (const amount of [AMOUNT, AMOUNT - 1n, AMOUNT - AMOUNT / 100n]) {
    quotes.made = 0;
    best(pair, amount, "exactIn", 1);
    const without = quotes.made;
    expect(pathCount(best(pair, amount, "exactIn"))).toBeGreaterThan(1);
    expect(quotes.made - 2 * without).toBeLessThanOrEqual(12);
  }
});

test("kept findings do not change the answer, and a changed market is searched again", () => {
  for (const mode of ["exactIn", "exactOut"] as const) {
    for (let amount = AMOUNT / 64n; amount < AMOUNT * 2n; amount = (amount * 7n) / 3n) {
      const kept: PairMarkets = { markets: countedMarkets(12).hot, faults: [], searched: [] };
      best(kept, (amount * 101n) / 100n, mode);
      best(kept, amount * 3n, mode, 2);
      const [again, fresh] = [best(kept, amount, mode), best(countedMarkets(12).hot, amount, mode)];
      expect([again.inAmount, again.outAmount, again.platform]).toEqual([
        fresh.inAmount,
        fresh.outAmount,
        fresh.platform,
      ]);
      const single = best(kept, amount, mode, 1);
      const ends = again.legs ?? [];
      if (mode === "exactIn") expect(again.value).toBeGreaterThanOrEqual(single.value);
      else expect(again.value).toBeLessThanOrEqual(single.value);
      expect(mode === "exactIn" ? again.inAmount : again.outAmount).toBe(amount);
      if (ends.length > 0)
        expect(ends.reduce((sum, leg) => sum + (mode === "exactIn" ? leg.inAmount : leg.outAmount), 0n)).toBe(amount);
      // Without the market that carries most, nothing of it is left.
      const gone = again.steps[0]!.hot;
      const others = best({ ...kept, markets: kept.markets.filter((one) => one !== gone) }, amount, mode);
      expect(others.steps.some(({ hot }) => hot === gone)).toBe(false);
    }
  }
});
