/**
 * What searching for a division that fits costs, when the best one takes more than 64 accounts: `npm run bench:turns`, with
 * `-- --worlds N --seed S`. Random worlds, trades of a twentieth and a fifth of the depth, transactions of version 1. Each search is
 * the first on its markets. Prints the longest step, which is the longest turn of the event loop, and the whole search, in time of the
 * thread's processor. Ends with an error if a turn is longer than promised.
 */
import { parseArgs } from "node:util";
import { Address } from "../../../src/primitives/address.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import { measureRoutes } from "../../../src/trade/build/route-fit.ts";
import { pathCount, type Route } from "../../../src/trade/quote/route.ts";
import { rememberedDivision } from "../../../src/trade/quote/split/fitting-division.ts";
import { memoryPorts } from "../../support/memory-ports.ts";
import { askOf, routesFor } from "./routed.ts";
import { drawWorld, type RoutingWorld } from "./worlds.ts";

const { values } = parseArgs({
  options: { worlds: { type: "string", default: "60" }, seed: { type: "string", default: "57" } },
});
const SIZES = [20n, 5n] as const;
/** Milliseconds. */
const LONGEST_TURN = 20;
const WALLET = Address.from(new Uint8Array(32).fill(7));

interface Searched {
  readonly steps: number;
  readonly longest: number;
  readonly total: number;
  readonly found: boolean;
}

const random = createRandom(Number(values.seed));
const searches: Searched[] = [];
for (let drawn = 0; drawn < Number(values.worlds); drawn++) {
  const world = drawWorld(random);
  for (const size of SIZES) {
    const searched = searchIn(world, world.depth / size);
    if (searched !== undefined) searches.push(searched);
  }
}
const longest = Math.max(0, ...searches.map((one) => one.longest));
const total = Math.max(0, ...searches.map((one) => one.total));
const found = searches.filter((one) => one.found).length;
process.stdout.write(
  `${searches.length} searches, ${found} found a division that fits, ${Math.max(0, ...searches.map((one) => one.steps))} steps at most\n`,
);
process.stdout.write(`longest turn ${longest.toFixed(1)} ms, longest search ${total.toFixed(1)} ms\n`);
process.exitCode = searches.length > 0 && longest <= LONGEST_TURN ? 0 : 1;

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
  for (;;) {
    const before = process.threadCpuUsage();
    const { done, value } = search.next();
    const { user, system } = process.threadCpuUsage(before);
    times.push((user + system) / 1_000);
    if (done !== true) continue;
    const whole = times.reduce((sum, time) => sum + time, 0);
    return { steps: times.length, longest: Math.max(...times), total: whole, found: value !== undefined };
  }
}
