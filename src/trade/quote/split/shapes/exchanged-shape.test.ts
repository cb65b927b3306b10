import { expect, test } from "vitest";
import { bestRouteOver, hubNetwork, type NetworkPair, type Product } from "../../../../../test/support/hub-network.ts";
import { createRandom } from "../../../../primitives/random.ts";

/** Drawn networks of markets that take only so much. */
const NETWORKS = 39;
const PAIRS = ["ab", "ah", "hb", "af", "fb", "hf"] as const;

function drawNetworks(): readonly ReadonlyMap<NetworkPair, readonly Product[]>[] {
  const random = createRandom(8);
  return Array.from({ length: NETWORKS }, () => {
    const draw = (): Product[] =>
      Array.from({ length: Number(random.between(1n, 3n)) }, () => {
        const depth = random.between(10n ** 9n, 10n ** 10n);
        return {
          reserves: [depth, random.between(depth / 2n, depth * 2n)],
          most: depth / random.between(1n, 20n),
        };
      });
    return new Map(PAIRS.map((pair) => [pair, draw()]));
  });
}

const networks = drawNetworks();

/** By network: the amount, and what it gives about. Closing markets alone refuses all but the last two, which gave 1.475e9 and 2.671e9. */
test.each([
  [0, 2_145_447_460n, 2.861e9],
  [7, 4_229_135_174n, 3.856e9],
  [11, 3_154_367_985n, 4.347e9],
  [38, 4_013_767_317n, 5.549e9],
  [26, 1_593_264_551n, 1.81e9],
  [33, 2_787_581_902n, 2.773e9],
] as const)(
  "an exact input near the limits of markets is divided over what was closed too early, network %i",
  (drawn, amount, about) => {
    const pairs = networks[drawn]!;
    const { outAmount } = bestRouteOver(
      hubNetwork((pair) => pairs.get(pair)!),
      "exactIn",
      amount,
    );
    expect(Number(outAmount)).toBeGreaterThan(about * 0.999);
  },
);
