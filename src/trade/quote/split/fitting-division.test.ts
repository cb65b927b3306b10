import { expect, test } from "vitest";
import { fitOf } from "../../../../test/bench/routing/fit.ts";
import { askOf, routesFor } from "../../../../test/bench/routing/routed.ts";
import { drawWorld } from "../../../../test/bench/routing/worlds.ts";
import { createRandom } from "../../../primitives/random.ts";
import { allAtOnce } from "../long-searches.ts";
import { rememberedDivision } from "./fitting-division.ts";

/** Worlds in which the best division of a twentieth of the depth takes more than 64 accounts. */
test.each([77, 113])("of a division with too many accounts, single markets are left out: world %i", (seed) => {
  const world = drawWorld(createRandom(seed));
  const asked = askOf(world, world.depth / 20n);
  const found = routesFor(asked, world);
  const best = Number(found.routes[0]!.outAmount);
  const { v1 } = fitOf(world, asked, found);
  expect(v1.fits).toBe(false);
  // Over fewer paths alone, as it was.
  const narrower = fitOf(world, asked, { ...found, splits: { ...found.splits!, lighter: () => undefined } }).v1;
  expect(v1.outAmount).toBeGreaterThan(narrower.outAmount);
  expect(best - v1.outAmount).toBeLessThan(0.6 * (best - narrower.outAmount));
  // What was found is found again, as quickly as any division of known markets.
  expect(fitOf(world, asked, routesFor(asked, world)).v1).toEqual(v1);
});

/** The widest division in such a world, and how many lighter ones are searched for on its splits. */
function counted() {
  const world = drawWorld(createRandom(16));
  const asked = askOf(world, world.depth / 20n);
  const ofTrade = () => {
    const { routes, splits } = routesFor(asked, world);
    let searched = 0;
    const counting: typeof splits = {
      ...splits!,
      lighter: (route, market) => {
        searched++;
        return splits!.lighter(route, market);
      },
    };
    return { unfit: routes[0]!, splits: counting, searched: () => searched };
  };
  return ofTrade;
}

test("that nothing lighter fits is kept for the next trades on the same markets, by kind of transaction", () => {
  const ofTrade = counted();
  const nothing = { fits: () => false, never: () => true };
  const first = ofTrade();
  expect(allAtOnce(rememberedDivision("exactIn", first.splits, first.unfit, "one", nothing))).toBeUndefined();
  expect(first.searched()).toBeGreaterThan(4);
  const second = ofTrade();
  expect(allAtOnce(rememberedDivision("exactIn", second.splits, second.unfit, "one", nothing))).toBeUndefined();
  expect(second.searched()).toBe(0);
  const other = ofTrade();
  expect(allAtOnce(rememberedDivision("exactIn", other.splits, other.unfit, "another", nothing))).toBeUndefined();
  expect(other.searched()).toBeGreaterThan(4);
});

test("it is not kept for all if a division fits this wallet alone not", () => {
  const ofTrade = counted();
  const mine = { fits: () => false, never: () => false };
  for (let trade = 0; trade < 2; trade++) {
    const { splits, unfit, searched } = ofTrade();
    expect(allAtOnce(rememberedDivision("exactIn", splits, unfit, "one", mine))).toBeUndefined();
    expect(searched()).toBeGreaterThan(4);
  }
});
