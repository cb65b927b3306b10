import { afterAll, expect, test } from "vitest";
import { ABSENT, PRESENT } from "./drawn-markets.ts";
import { tradeInWorld } from "./money-run.ts";

/** The first seed: another one each time, unless it is given. */
const SEED = Number(process.env.SEED ?? Math.floor(Date.now() / 1_000) % 1_000_000);
const WORLDS = Number(process.env.WORLDS ?? 200);
/** Orders in each world. */
const ORDERS = Number(process.env.ORDERS ?? 50);
/** With fewer worlds than this, some venue may be in none. */
const ALL_VENUES = 200;

if (ABSENT.length > 0) console.log(`without their programs in .venues, not traded on: ${ABSENT.join(", ")}`);

const became = new Map<string, number>();
const venues = new Map<string, number>();
const add = (to: Map<string, number>, counts: ReadonlyMap<string, number>): void => {
  for (const [kind, count] of counts) to.set(kind, (to.get(kind) ?? 0) + count);
};

/** Without any program one name says why nothing is run. */
const seeds = PRESENT.length === 0 ? [] : Array.from({ length: WORLDS }, (_, index) => SEED + index);
test.skipIf(PRESENT.length > 0)("no program of a venue is in .venues: nothing is traded", () => undefined);

// A world for each test: between two of them its runtime is freed.
test.each(seeds)("seed %i: every amount, cost and fee is what the chain moves", async (seed) => {
  const report = await tradeInWorld(seed, ORDERS);
  add(became, report.became);
  add(venues, report.venues);
  expect(report.faults).toEqual([]);
});

afterAll(() => {
  const listed = (counts: ReadonlyMap<string, number>) =>
    [...counts].sort(([, a], [, b]) => b - a).map(([kind, count]) => `${kind} ${count}`);
  const range = `seeds ${SEED} to ${SEED + WORLDS - 1}, ${ORDERS} orders each`;
  console.log(`${range}: ${listed(became).join(", ")}. By venue: ${listed(venues).join(", ")}`);
  if (WORLDS >= ALL_VENUES) for (const venue of PRESENT) expect(venues.get(venue), venue).toBeGreaterThan(0);
});
