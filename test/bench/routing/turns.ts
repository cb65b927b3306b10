/**
 * What searching for a division that fits costs, when the best one takes more than 64 accounts: `npm run bench:turns`, with
 * `-- --worlds N --seed S`. Random worlds, trades of a twentieth and a fifth of the depth, transactions of version 1. Each search is
 * the first on its markets. Prints the longest step, which is the longest turn of the event loop, and the whole search, in time of the
 * thread's processor, and what of that the code of each venue takes once it is warm. Ends with an error if a turn is longer than promised.
 */
import { parseArgs } from "node:util";
import type { PairMarkets } from "../../../src/market/port.ts";
import { Address } from "../../../src/primitives/address.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import { measureRoutes } from "../../../src/trade/build/route-fit.ts";
import { pathCount, type Route } from "../../../src/trade/quote/route.ts";
import { rememberedDivision } from "../../../src/trade/quote/split/fitting-division.ts";
import type { Venue } from "../../../src/venues/venue.ts";
import { memoryPorts } from "../../support/memory-ports.ts";
import { askOf, routesFor } from "./routed.ts";
import { drawWorld, type RoutingWorld } from "./worlds.ts";

const { values } = parseArgs({
  options: { worlds: { type: "string", default: "60" }, seed: { type: "string", default: "57" } },
});
const SIZES = [20n, 5n] as const;
/** Milliseconds. */
const LONGEST_TURN = 20;
/** Microseconds of processor time. */
const LONG_ENOUGH = 250_000;
const WALLET = Address.from(new Uint8Array(32).fill(7));
/** True while a search runs, and not what is found before it. */
let isSearching = false;

interface Searched {
  readonly steps: number;
  readonly longest: number;
  readonly total: number;
  readonly found: boolean;
}

const searches = searchAll((world) => world);
const longest = Math.max(0, ...searches.map((one) => one.longest));
const total = Math.max(0, ...searches.map((one) => one.total));
const found = searches.filter((one) => one.found).length;
process.stdout.write(
  `${searches.length} searches, ${found} found a division that fits, ${Math.max(0, ...searches.map((one) => one.steps))} steps at most\n`,
);
process.stdout.write(`longest turn ${longest.toFixed(1)} ms, longest search ${total.toFixed(1)} ms\n`);
const callsOf = new Map<string, (() => unknown)[]>();
const whole = searchAll((world) => recorded(world, callsOf)).reduce((sum, one) => sum + one.total, 0);
const took = [...callsOf].map(([id, calls]) => ({ id, calls: calls.length, time: timeOf(calls) }));
for (const { id, calls, time } of took.toSorted((a, b) => b.time - a.time)) {
  const share = `${((time / whole) * 100).toFixed(1).padStart(4)} % of the searches`;
  process.stdout.write(
    `${id.padEnd(18)} ${time.toFixed(1).padStart(5)} ms, ${share}, ${calls} calls, ${((time * 1_000) / calls).toFixed(1)} µs each\n`,
  );
}
process.exitCode = searches.length > 0 && longest <= LONGEST_TURN ? 0 : 1;

/** The searches in all worlds, as `change` makes them. */
function searchAll(change: (world: RoutingWorld) => RoutingWorld): readonly Searched[] {
  const random = createRandom(Number(values.seed));
  const searched = Array.from({ length: Number(values.worlds) }, () => {
    const world = change(drawWorld(random));
    return SIZES.map((size) => searchIn(world, world.depth / size));
  });
  return searched.flat().filter((one) => one !== undefined);
}

/** The same world, whose venues note in `calls` what they are asked in searches. */
function recorded(world: RoutingWorld, calls: Map<string, (() => unknown)[]>): RoutingWorld {
  const known = new Map<PairMarkets, PairMarkets>();
  const marketsOf: RoutingWorld["marketsOf"] = (a, b) => {
    const pair = world.marketsOf(a, b);
    const markets = pair.markets.map((hot) => ({ ...hot, venue: recordedVenue(hot.venue, calls) }));
    const made = known.get(pair) ?? { ...pair, markets };
    known.set(pair, made);
    return made;
  };
  return { ...world, marketsOf };
}

function recordedVenue(venue: Venue, calls: Map<string, (() => unknown)[]>): Venue {
  const noted =
    <A extends readonly unknown[], R>(act: (...asked: A) => R) =>
    (...asked: A): R => {
      const made = calls.get(venue.id) ?? [];
      calls.set(venue.id, made);
      if (isSearching) made.push(() => act(...asked));
      return act(...asked);
    };
  const { quote, swap, older, lean } = venue;
  return {
    ...venue,
    quote: noted(quote),
    swap: noted(swap),
    ...(older && { older: noted(older) }),
    ...(lean && { lean: noted(lean) }),
  };
}

/** What these calls take, made again and again for long enough: a single one is shorter than the clock's step. Milliseconds. */
function timeOf(calls: readonly (() => unknown)[]): number {
  const before = process.threadCpuUsage();
  for (let rounds = 1; ; rounds++) {
    for (const call of calls) {
      try {
        call();
      } catch {
        // A refusal is an answer.
      }
    }
    const { user, system } = process.threadCpuUsage(before);
    if (user + system >= LONG_ENOUGH) return (user + system) / 1_000 / rounds;
  }
}

/** The search for a trade whose best division does not fit; undefined if it does, or is one path. */
function searchIn(world: RoutingWorld, amount: bigint): Searched | undefined {
  const asked = askOf(world, amount);
  const { routes, splits } = routesFor(asked, world);
  const [widest] = routes;
  if (widest === undefined || splits === undefined || pathCount(widest) < 2) return undefined;
  const base = memoryPorts({ mint: world.mints[0]!, clock: world.clock, wallet: WALLET, markets: [] });
  const ports = { ...base, settings: { ...base.settings, transactionV1: true } };
  const fits = (route: Route) => measureRoutes(ports, asked.intent, asked.snapshot, [route], 1)[0]!.kind !== "never";
  if (fits(widest)) return undefined;
  const search = rememberedDivision("exactIn", splits, widest, "a", { fits, never: (route) => !fits(route) });
  const times: number[] = [];
  isSearching = true;
  for (;;) {
    const before = process.threadCpuUsage();
    const { done, value } = search.next();
    const { user, system } = process.threadCpuUsage(before);
    times.push((user + system) / 1_000);
    if (done !== true) continue;
    isSearching = false;
    const all = times.reduce((sum, time) => sum + time, 0);
    return { steps: times.length, longest: Math.max(...times), total: all, found: value !== undefined };
  }
}
