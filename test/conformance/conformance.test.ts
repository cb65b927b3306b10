import { describe, expect, it } from "vitest";
import { venues } from "../../src/venues/registry.ts";
import { oftenLean } from "../support/lean-venue.ts";
import { worldOnSvm } from "../support/world.ts";
import { type ConformanceMarket, testTrades } from "./trade-checks.ts";

const SEED = 20_260_920;

const { world, svm } = worldOnSvm(SEED);
const wallet = svm.newWallet(1n << 60n);
const markets = world.tokens.map((token, index) => ({ ...token, seed: SEED + index }));
const marketsOf = (id: string): readonly ConformanceMarket[] => markets.filter(({ venue }) => venue === id);

describe.each(venues.filter(({ id }) => marketsOf(id).length > 0))("$id on the embedded chain's program", (venue) => {
  testTrades(svm, wallet, oftenLean(venue).venue, marketsOf(venue.id));
});

it("covers every venue the embedded chain has a program for", () => {
  const registered = new Set(venues.map(({ id }) => id));
  expect(world.tokens.filter(({ venue }) => !registered.has(venue)).map(({ symbol }) => symbol)).toEqual([]);
});
