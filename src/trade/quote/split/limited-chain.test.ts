import { expect, test } from "vitest";
import { judge } from "../../../../test/bench/routing/judge.ts";
import { routed } from "../../../../test/bench/routing/routed.ts";
import { worldAt } from "../../../../test/bench/routing/worlds.ts";
import { bestRouteOver, hubNetwork, type NetworkPair, type Product } from "../../../../test/support/hub-network.ts";
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

const AMOUNT = 100_000_000n;
const DEEP = 10n ** 15n;
/** Gives this much for the amount, in percent. */
const entry = (percent: bigint, most?: bigint): Product => ({
  reserves: [DEEP, (DEEP * percent) / 100n],
  ...(most === undefined ? {} : { most }),
});
/** Takes 95 million: in steps of the search, 92.3 million are known to go in, and 100.7 million to be too much. */
const exit = entry(100n, 95_000_000n);

test.each<[string, Partial<Record<NetworkPair, readonly Product[]>>]>([
  ["one hub", { ah: [entry(100n), entry(100n), entry(90n)], hb: [exit] }],
  ["two hubs", { ah: [entry(100n), entry(100n), entry(90n)], hf: [entry(100n)], fb: [exit] }],
  [
    "one hub, where a better entry may refuse",
    { ah: [entry(100n), entry(100n), entry(91n, 95_000_000n), entry(90n)], hb: [exit] },
  ],
])(
  "a worse entry is taken where the best ones bring a little more than the market behind takes: over %s",
  (_, pairs) => {
    const { outAmount } = bestRouteOver(
      hubNetwork((pair) => pairs[pair] ?? []),
      "exactIn",
      AMOUNT,
      1,
    );
    expect(Number(outAmount) / 9e7).toBeCloseTo(1, 6);
  },
);
