import { expect, test } from "vitest";
import { bestRouteOver, hubNetwork } from "../../../../test/support/hub-network.ts";

/** Constant products that hold as much of the output, and of the input so many times as much. */
const deepAndDear = (holds: bigint, prices: readonly bigint[]) =>
  hubNetwork((pair) => (pair === "ab" ? prices.map((price) => ({ reserves: [holds * price, holds] as const })) : []));

/** The least that two products take for a part of what both hold. */
function leastOf(holds: bigint, [a, b]: readonly [bigint, bigint], amount: bigint): number {
  let least = Number.POSITIVE_INFINITY;
  const inputFor = (price: bigint, out: number) => (Number(holds * price) * out) / (Number(holds) - out);
  const most = Number(holds);
  for (let part = 1; part < 10_000; part++) {
    const low = Number(amount) - most;
    const first = low + ((most - low) * part) / 10_000;
    least = Math.min(least, inputFor(a, first) + inputFor(b, Number(amount) - first));
  }
  return least;
}

test.each([1n, 3n, 30n, 300n])(
  "an exact output of nearly all that two markets hold is divided at the best price, one %i times as dear",
  (price) => {
    const holds = 10n ** 10n;
    for (const percent of [120n, 160n, 190n, 197n]) {
      const amount = (holds * percent) / 100n;
      const { inAmount, outAmount } = bestRouteOver(deepAndDear(holds, [1n, price]), "exactOut", amount);
      expect(outAmount).toBe(amount);
      expect(Number(inAmount) / leastOf(holds, [1n, price], amount), `${percent} %`).toBeLessThan(1.0005);
    }
  },
);
