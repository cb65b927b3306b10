import { expect, test } from "vitest";
import { judge } from "../../../../test/bench/routing/judge.ts";
import { routed } from "../../../../test/bench/routing/routed.ts";
import { worldAt } from "../../../../test/bench/routing/worlds.ts";
import { MOST_PATHS } from "../route-bounds.ts";

/** Worlds of `npm run bench:routing`, by seed, place and ask, in which the market to leave out is not among the four worth least. */
const ASKS = [
  [8000, 33, 2_773_226_841_352n],
  [8000, 38, 1_804_995_971_266n],
  [12000, 63, 1_359_333_579_894n],
] as const;

test.each(ASKS)("the market whose loss costs least is left out (world %i, %i)", (seed, place, amount) => {
  const world = worldAt(seed, place);
  const { single, best } = judge(world, amount, MOST_PATHS);
  expect(single).toBeGreaterThan(0);
  expect(routed(world, amount)! - single).toBeGreaterThan((best - single) * 0.99);
});
