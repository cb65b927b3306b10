import { expect, test } from "vitest";
import { judge } from "../../../../test/bench/routing/judge.ts";
import { routed } from "../../../../test/bench/routing/routed.ts";
import { worldAt } from "../../../../test/bench/routing/worlds.ts";
import { MOST_PATHS } from "../route-bounds.ts";

/** Worlds of `npm run bench:routing`, by seed, place and ask, whose markets behind hubs cannot take what the best entry brings. */
const ASKS = [
  [61, 61, 2_457_550_617_866n],
  [64, 60, 1_429_618_041_031n],
] as const;

test.each(ASKS)("no single path over worse entries beats the route (world %i, %i)", (seed, place, amount) => {
  const world = worldAt(seed, place);
  const { single, best } = judge(world, amount, MOST_PATHS);
  expect(single).toBeGreaterThan(0);
  // With one path, the best single path itself; divided, what can be gained over it.
  expect(routed(world, amount, { maxPaths: 1 })).toBeGreaterThanOrEqual(single);
  expect(routed(world, amount)! - single).toBeGreaterThanOrEqual((best - single) * 0.9);
});
