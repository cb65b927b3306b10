import { expect, test } from "vitest";
import { bestRouteOver, hubNetwork, type Product } from "../../../../test/support/hub-network.ts";
import { TradewireError } from "../../../errors/tradewire-error.ts";
import { createRandom, type Random } from "../../../primitives/random.ts";

const NETWORKS = 60;

/** Of equal sides, each with a limit to what it takes. */
function drawProducts(random: Random): Product[] {
  return Array.from({ length: Number(random.between(1n, 3n)) }, () => {
    const reserve = random.between(10n ** 8n, 10n ** 10n);
    return { reserves: [reserve, reserve], most: random.between(reserve / 50n, reserve) };
  });
}

test.each(["exactIn", "exactOut"] as const)(
  `${NETWORKS} trades over markets that take only so much are made or refused, %s`,
  (mode) => {
    const random = createRandom(4);
    let made = 0;
    for (let drawn = 0; drawn < NETWORKS; drawn++) {
      const network = hubNetwork((pair) => (pair === "ab" ? [] : drawProducts(random)));
      const amount = random.between(10n ** 7n, 2n * 10n ** 9n);
      try {
        expect(bestRouteOver(network, mode, amount)[mode === "exactIn" ? "inAmount" : "outAmount"]).toBe(amount);
        made++;
      } catch (error) {
        expect(error).toBeInstanceOf(TradewireError);
      }
    }
    expect(made).toBeGreaterThan(NETWORKS / 4);
  },
);
