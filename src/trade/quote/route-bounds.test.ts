import { expect, test } from "vitest";
import type { PairMarkets } from "../../market/port.ts";
import { checkVenueNames, onlyAllowed, routeBoundsOf, UNBOUNDED } from "./route-bounds.ts";

const KNOWN = ["pump_fun", "pump_swap", "raydium_cpmm"];

test("a request without bounds may take every route", () => {
  expect(routeBoundsOf({})).toBe(UNBOUNDED);
  expect(routeBoundsOf({ venues: [], excludeVenues: [], directOnly: false })).toBe(UNBOUNDED);
});

test("directOnly is one leg, whatever maxLegs says", () => {
  expect(routeBoundsOf({ directOnly: true, maxLegs: 3 }).maxLegs).toBe(1);
  expect(routeBoundsOf({ maxLegs: 2, maxPaths: 3 })).toMatchObject({ maxLegs: 2, maxPaths: 3 });
});

test("unknown venues are refused by name, and a request that leaves none", () => {
  const refusal = (asked: Parameters<typeof routeBoundsOf>[0]) => {
    try {
      return checkVenueNames(asked, KNOWN);
    } catch (error) {
      return error;
    }
  };
  expect(refusal({ venues: ["pumpfun"] })).toMatchObject({
    code: "VALIDATION_ERROR",
    facts: { field: "venues" },
    message: expect.stringContaining('"pumpfun"'),
  });
  expect(refusal({ excludeVenues: [""] })).toMatchObject({ facts: { field: "excludeVenues" } });
  expect(refusal({ venues: ["pump_fun"], excludeVenues: ["pump_fun"] })).toMatchObject({
    facts: { field: "excludeVenues" },
  });
  expect(refusal({ venues: ["pump_fun"], excludeVenues: ["pump_swap"] })).toBeUndefined();
});

test("a pair keeps one object per set of venues", () => {
  const market = (id: string) => ({ venue: { id } }) as PairMarkets["markets"][number];
  const pair: PairMarkets = {
    markets: KNOWN.map(market),
    faults: [{ venue: "pump_swap", market: undefined, reason: "" }],
    searched: KNOWN,
  };
  const filtered = onlyAllowed(pair, routeBoundsOf({ excludeVenues: ["pump_swap"] }));
  expect(filtered.markets.map(({ venue }) => venue.id)).toEqual(["pump_fun", "raydium_cpmm"]);
  expect(filtered).toMatchObject({ faults: [], searched: ["pump_fun", "raydium_cpmm"] });
  expect(onlyAllowed(pair, routeBoundsOf({ excludeVenues: ["pump_swap", "pump_swap"] }))).toBe(filtered);
  expect(onlyAllowed(pair, UNBOUNDED)).toBe(pair);
});
