import { expect, test } from "vitest";
import { judge } from "../../../../test/bench/routing/judge.ts";
import { routed } from "../../../../test/bench/routing/routed.ts";
import { drawWorld } from "../../../../test/bench/routing/worlds.ts";
import { createRandom } from "../../../primitives/random.ts";

/** Worlds of `npm run bench:routing` by seed: a flat price beside steeper ones, markets that take little behind hubs, and prices that bend. */
const SEEDS = [15, 22, 33] as const;
/** Parts of the deepest market's reserve. */
const SIZES = [0.001, 0.2] as const;

test.each(SEEDS)("a division gains what can be gained, and is never below the best single path (world %i)", (seed) => {
  const world = drawWorld(createRandom(seed));
  for (const size of SIZES) {
    const amount = BigInt(Math.floor(Number(world.depth) * size));
    const { single, best } = judge(world, amount, 4);
    const out = routed(world, amount)!;
    expect(out).toBeGreaterThanOrEqual(single);
    expect(out - single, `${size}`).toBeGreaterThanOrEqual((best - single) * 0.995);
  }
});
