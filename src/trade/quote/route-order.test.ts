import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import type { Route } from "./route.ts";
import { compareRoutes } from "./route-order.ts";

const random = createRandom(1_604);
const MARKETS = Array.from({ length: 3 }, () => Address.from(random.bytes(32)));
const few = () => random.below(2n) + 100n;

/** A route of few possible values, so that ties are common at every rank. */
function draw(): Route {
  const steps = Array.from({ length: 1 + Number(random.below(2n)) }, () => ({
    hot: { market: { address: random.pick(MARKETS) } },
  }));
  const platform = random.pick(["orca_whirlpool", "raydium_cpmm"]);
  return { value: few(), outAmount: few(), inAmount: few(), platform, steps } as unknown as Route;
}

const nameOf = ({ value, outAmount, inAmount, platform, steps }: Route) =>
  [value, outAmount, inAmount, platform, ...steps.map(({ hot }) => hot.market.address)].join(" ");

test.each(["exactIn", "exactOut"] as const)(
  "the order of routes is total for %s: the same list, however it came",
  (mode) => {
    const order = (a: Route, b: Route) => Math.sign(compareRoutes({ mode }, a, b));
    const routes = Array.from({ length: 60 }, draw);
    for (const a of routes) {
      for (const b of routes) {
        expect(order(a, b) + order(b, a)).toBe(0);
        expect(order(a, b) === 0).toBe(nameOf(a) === nameOf(b));
      }
    }
    const names = routes.toSorted(order).map(nameOf);
    for (let round = 0; round < 20; round++) {
      const shuffled = routes.map((route) => [random.u32(), route] as const).sort(([a], [b]) => a - b);
      expect(
        shuffled
          .map(([, route]) => route)
          .sort(order)
          .map(nameOf),
      ).toEqual(names);
    }
  },
);

test("more value is first; between equals more output, less input, fewer markets, platform, addresses, as the documents say", () => {
  const route = (change: Partial<Route>): Route => ({ ...base, ...change });
  const base = {
    value: 100n,
    outAmount: 100n,
    inAmount: 100n,
    platform: "b",
    steps: [{ hot: { market: { address: MARKETS[0] } } }],
  } as unknown as Route;
  const first = (mode: "exactIn" | "exactOut", a: Partial<Route>, b: Partial<Route>) =>
    expect(compareRoutes({ mode }, route(a), route(b))).toBeLessThan(0);
  first("exactIn", { value: 101n, outAmount: 1n }, { outAmount: 200n });
  first("exactOut", { value: 99n, outAmount: 1n }, { outAmount: 200n });
  first("exactIn", { outAmount: 101n, inAmount: 200n }, {});
  first("exactIn", { inAmount: 99n, steps: [...base.steps, ...base.steps] }, {});
  first("exactOut", { platform: "z" }, { steps: [...base.steps, ...base.steps], platform: "a" });
  first("exactIn", { platform: "a" }, {});
});
