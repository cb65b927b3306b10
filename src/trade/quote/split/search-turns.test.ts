import { afterEach, expect, test, vi } from "vitest";
import { askOf } from "../../../../test/bench/routing/routed.ts";
import { drawWorld, type RoutingWorld } from "../../../../test/bench/routing/worlds.ts";
import { hubNetwork, stepsOver } from "../../../../test/support/hub-network.ts";
import { createRandom } from "../../../primitives/random.ts";
import { LongSearches, pausing, type Steps } from "../long-searches.ts";
import { type FoundRoutes, routesOf } from "../snapshot.ts";
import { MarketCurve } from "./curves/market-curve.ts";

/** What one turn may do: points read off curves, nearly all that filling networks is, and exact quotes. A few milliseconds in all. */
const MOST_READS = 30_000;
const MOST_QUOTES = 600;

afterEach(() => vi.restoreAllMocks());

/** Worlds of up to three hubs, each with the same markets every time it is drawn, about which nothing is known yet. */
function worlds(count: number): RoutingWorld[] {
  const random = createRandom(57);
  return Array.from({ length: count }, () => drawWorld(random));
}

function search(world: RoutingWorld, searches = true): Steps<FoundRoutes> {
  const { intent, snapshot } = askOf(world, world.depth / 5n);
  return routesOf({ searchSoon: () => undefined }, intent, snapshot, world.clock, { searches });
}

interface Work {
  reads: number;
  quotes: number;
}

/** Counts what is done from now on. */
function countedWork(world: RoutingWorld): Work {
  const work = { reads: 0, quotes: 0 };
  const { out } = MarketCurve.prototype;
  vi.spyOn(MarketCurve.prototype, "out").mockImplementation(function (this: MarketCurve, input) {
    work.reads++;
    return out.call(this, input);
  });
  for (const [index, a] of world.mints.entries())
    for (const b of world.mints.slice(index + 1))
      for (const { venue } of world.marketsOf(a, b).markets) {
        const { quote } = venue;
        vi.spyOn(venue, "quote").mockImplementation((...args) => {
          work.quotes++;
          return quote(...args);
        });
      }
  return work;
}

/** The routes, and the work of each turn; undefined if there is none. */
function inTurns(world: RoutingWorld): { readonly found: FoundRoutes; readonly turns: readonly Work[] } | undefined {
  const work = countedWork(world);
  const steps = search(world);
  const turns: Work[] = [];
  try {
    for (;;) {
      Object.assign(work, { reads: 0, quotes: 0 });
      const { done, value } = steps.next();
      turns.push({ ...work });
      if (done === true) return { found: value, turns };
    }
  } catch {
    return undefined;
  } finally {
    vi.restoreAllMocks();
  }
}

const namesOf = ({ routes }: FoundRoutes) =>
  routes.map(({ outAmount, steps }) => `${outAmount} ${steps.map(({ hot }) => hot.market.address)}`);

test("no turn of a search does more than some milliseconds' work, and small searches take one", () => {
  const searched = worlds(60).flatMap((world) => inTurns(world) ?? []);
  const turns = searched.map((one) => one.turns);
  expect(Math.max(...turns.flat().map(({ reads }) => reads))).toBeLessThan(MOST_READS);
  expect(Math.max(...turns.flat().map(({ quotes }) => quotes))).toBeLessThan(MOST_QUOTES);
  // All at once, the longest would hold up everybody else for several times that.
  const whole = turns.map((one) => one.reduce((sum, { reads }) => sum + reads, 0));
  expect(Math.max(...whole)).toBeGreaterThan(2 * MOST_READS);
  expect(turns.filter(({ length }) => length === 1).length).toBeGreaterThan(turns.length / 2);
});

test("pauses change no route, nor do trades of the same markets in between", async () => {
  const alone = worlds(40).map((world) => inTurns(world)?.found);
  const searches = new LongSearches({ pause: async () => undefined });
  const drawn = worlds(40).filter((_, index) => alone[index] !== undefined);
  const together = drawn.map(async (world) => {
    const all = Array.from({ length: 3 }, () => searches.run(() => pausing(search(world), true)));
    return (await Promise.all(all)) as FoundRoutes[];
  });
  const known = alone.flatMap((one) => one ?? []);
  for (const [index, one] of together.entries())
    for (const found of await one) expect(namesOf(found)).toEqual(namesOf(known[index]!));
  expect(known.length).toBeGreaterThan(25);
});

test("a trade that must not pause takes its best single route, until another has searched", () => {
  const index = worlds(60).findIndex((one) => (inTurns(one)?.turns.length ?? 0) > 2);
  const world = worlds(60)[index]!;
  const run = () => {
    const { done, value } = search(world, false).next();
    if (done !== true) throw new Error("it pauses");
    return value;
  };
  const first = run();
  expect(first.splits).toBeUndefined();
  expect(first.routes.length).toBeGreaterThan(0);
  for (const steps = search(world); steps.next().done !== true; );
  expect(run().splits?.best?.outAmount).toBeGreaterThan(first.routes[0]!.outAmount);
});

test.each(["exactIn", "exactOut"] as const)("a divided trade that is repeated never pauses again, %s", (mode) => {
  const network = hubNetwork((pair) =>
    pair === "hf"
      ? []
      : [3n, 4n, 5n].map((side) => ({ reserves: [side * 10n ** 9n, side * 10n ** 9n], most: 10n ** 9n })),
  );
  const begin = () => stepsOver(network, { mode, amount: 10n ** 9n });
  for (const steps = begin(); steps.next().done !== true; );
  let paused = 0;
  for (let repeated = 0; repeated < 300; repeated++) if (begin().next().done !== true) paused++;
  expect(paused).toBe(0);
});
