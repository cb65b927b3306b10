import { expect, test } from "vitest";
import type { SwapMode } from "../../venues/venue.ts";
import type { Route } from "../quote/route.ts";
import { FitLoss } from "./route-fit.ts";

/** Routes by width, and what each is worth to a trade that gets an output; one that pays an input pays the inverse. */
const WORTH = { four: 1_000, three: 990, two: 970, one: 900 } as const;
type Width = keyof typeof WORTH;
const SCALE = 10 ** 15;

/** Builds that share what is known of all wallets' transactions. */
function plan(mode: SwapMode) {
  let unfitWorth = 1;
  let start = 0;
  const order: readonly Width[] = ["four", "three", "two", "one"];
  const routeOf = (width: Width) =>
    ({ value: BigInt(Math.round(mode === "exactIn" ? WORTH[width] * SCALE : SCALE / WORTH[width])) }) as Route;
  return {
    /**
     * A build for a wallet whose transaction holds a route; those wider than `fitsSome` are too large for every wallet.
     *
     * @param abandoned the route before which the draft ends, to be made again, as at a pause
     * @param meanwhile what other builds do there
     */
    build(holds: Width, fitsSome: Width, abandoned?: Width, meanwhile?: () => void): number {
      const splits = {
        unfitWorth,
        beginsBelow: (worth: number) => {
          unfitWorth = Math.max(1, unfitWorth * worth);
        },
      };
      const loss = new FitLoss(mode, splits);
      for (let width = start; ; width++) {
        const route = routeOf(order[width]!);
        if (order[width] === abandoned) {
          if (meanwhile === undefined) return this.build(holds, fitsSome);
          meanwhile();
        }
        loss.tries(route);
        if (order[width] === holds) return loss.of(route);
        if (width >= order.indexOf(fitsSome)) continue;
        loss.fitsNobody(route, () => {
          const isNew = start <= width;
          start = Math.max(start, width + 1);
          return isNew;
        });
      }
    },
  };
}

const lossOf = (mode: SwapMode, best: number, taken: number) =>
  mode === "exactIn" ? best / taken - 1 : 1 - taken / best;

test.each(["exactIn", "exactOut"] as const)(
  "%s: each wallet loses what its own route lacks, after builds of others too",
  (mode) => {
    for (const order of [
      ["two", "three", "two", "one", "three"],
      ["three", "two", "three"],
      ["one", "three", "two"],
    ] as const) {
      const shared = plan(mode);
      for (const holds of order)
        expect(shared.build(holds, "three"), `${order}: ${holds}`).toBeCloseTo(
          lossOf(mode, WORTH.four, WORTH[holds]),
          5,
        );
    }
    expect(plan(mode).build("four", "four")).toBe(0);
  },
);

test.each(["exactIn", "exactOut"] as const)("%s: of several that fit nobody the best one counts", (mode) => {
  const shared = plan(mode);
  for (const holds of ["two", "one", "two"] as const)
    expect(shared.build(holds, "two")).toBeCloseTo(lossOf(mode, WORTH.four, WORTH[holds]), 5);
});

test.each(["exactIn", "exactOut"] as const)(
  "%s: what fits nobody counts after a draft that ended before another route was tried",
  (mode) => {
    for (const abandoned of ["three", "two"] as const) {
      const shared = plan(mode);
      expect(shared.build("two", "two", abandoned)).toBeCloseTo(lossOf(mode, WORTH.four, WORTH.two), 5);
      expect(shared.build("one", "two")).toBeCloseTo(lossOf(mode, WORTH.four, WORTH.one), 5);
    }
  },
);

test.each(["exactIn", "exactOut"] as const)("%s: two builds at once that find the same count it once", (mode) => {
  const shared = plan(mode);
  const other = () => void shared.build("two", "two");
  expect(shared.build("two", "two", "three", other)).toBeCloseTo(lossOf(mode, WORTH.four, WORTH.two), 5);
  expect(shared.build("one", "two")).toBeCloseTo(lossOf(mode, WORTH.four, WORTH.one), 5);
});
