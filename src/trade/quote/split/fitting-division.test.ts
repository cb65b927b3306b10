import { expect, test } from "vitest";
import { fitOf } from "../../../../test/bench/routing/fit.ts";
import { askOf, routesFor } from "../../../../test/bench/routing/routed.ts";
import { drawWorld } from "../../../../test/bench/routing/worlds.ts";
import { createRandom } from "../../../primitives/random.ts";

/** Worlds in which the best division of a twentieth of the depth takes more than 64 accounts. */
test.each([16, 24])("of a division with too many accounts, single markets are left out: world %i", (seed) => {
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
