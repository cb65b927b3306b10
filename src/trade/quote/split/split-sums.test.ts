import { expect, test } from "vitest";
import { askOf } from "../../../../test/bench/routing/routed.ts";
import { drawWorld } from "../../../../test/bench/routing/worlds.ts";
import { TradewireError } from "../../../errors/tradewire-error.ts";
import { createRandom } from "../../../primitives/random.ts";
import type { Intent } from "../../intent.ts";
import { allAtOnce } from "../long-searches.ts";
import { pathCount, type Route } from "../route.ts";
import { MOST_PATHS } from "../route-bounds.ts";
import { routesOf } from "../snapshot.ts";

const WORLDS = 10;
const MODES = ["exactIn", "exactOut"] as const;

test("routes of any size move the amount asked to the base unit, or are refused with a code", () => {
  const random = createRandom(999);
  let divided = 0;
  for (let drawn = 0; drawn < WORLDS; drawn++) {
    const world = drawWorld(random);
    const { depth, clock } = world;
    for (const amount of [1n, 1_000n, depth / 7n, depth / 2n, depth * 3n, (1n << 63n) - 1n]) {
      for (const mode of MODES) {
        const asked = askOf(world, amount);
        const intent: Intent = { ...asked.intent, mode, slippagePpb: 10_000_000n };
        for (const route of foundRoutes(intent, asked.snapshot, clock)) {
          const what = `world ${drawn}, ${mode} ${amount}`;
          expect(pathCount(route), what).toBeLessThanOrEqual(MOST_PATHS);
          for (const rest of route.remainders) expect(rest.amount, what).toBeGreaterThanOrEqual(0n);
          if (mode === "exactOut") expect(route.outAmount, what).toBeGreaterThanOrEqual(amount);
          if (pathCount(route) === 1) continue;
          divided++;
          expect(mode === "exactIn" ? route.inAmount : route.outAmount, what).toBe(amount);
        }
      }
    }
  }
  expect(divided).toBeGreaterThan(40);
});

function foundRoutes(
  intent: Intent,
  snapshot: ReturnType<typeof askOf>["snapshot"],
  clock: Parameters<typeof routesOf>[3],
): readonly Route[] {
  try {
    const { routes, splits } = allAtOnce(routesOf({ searchSoon: () => undefined }, intent, snapshot, clock));
    return [
      ...routes,
      ...[3, 2].map((paths) => splits && allAtOnce(splits.narrower(paths))).filter((route) => route !== undefined),
    ];
  } catch (error) {
    if (error instanceof TradewireError) return [];
    throw error;
  }
}
