import { expect, test } from "vitest";
import { bestRouteOver, hubNetwork, type Product } from "../../../../test/support/hub-network.ts";
import { maxOf } from "../../../primitives/integer.ts";
import { createRandom, type Random } from "../../../primitives/random.ts";

const NETWORKS = 60;
/** How much more an exact input of as much may give. Fraction. */
const MOST_MISSED = 2e-3;

function drawProducts(random: Random): Product[] {
  return Array.from({ length: Number(random.between(1n, 3n)) }, () => {
    const depth = random.between(10n ** 9n, 10n ** 10n);
    return { reserves: [depth, random.between(depth / 2n, depth * 2n)] };
  });
}

test(`${NETWORKS} exact outputs take no more than an exact input that gives as much`, () => {
  const random = createRandom(4242);
  let worst = 0;
  for (let drawn = 0; drawn < NETWORKS; drawn++) {
    const direct = drawProducts(random);
    const network = hubNetwork((pair) => (pair === "ab" ? direct : drawProducts(random)));
    // Up to most of what the best single market holds: that takes many times as much as a division does.
    const deepest = direct.map(({ reserves }) => reserves[1]).reduce(maxOf);
    const amount = (deepest * random.between(1n, 95n)) / 100n;
    const { inAmount } = bestRouteOver(network, "exactOut", amount);
    worst = Math.max(worst, Number(bestRouteOver(network, "exactIn", inAmount).outAmount) / Number(amount) - 1);
  }
  expect(worst).toBeLessThan(MOST_MISSED);
});
