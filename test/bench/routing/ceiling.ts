/**
 * How many best routes fit, of those that the network's limits on accounts and compute units allow: `node test/bench/routing/ceiling.ts`,
 * with `--asks N --seed S`. Counts the leanest swaps, bytes left out, beside what is composed for transactions of version 1; then what
 * would fit if swaps on `orca_whirlpool` named one array of ticks wherever the price is, and with the 96 accounts that are drafted.
 */
import { createHash } from "node:crypto";
import { parseArgs } from "node:util";
import { Address } from "../../../src/primitives/address.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import { MAX_COMPUTE_UNITS } from "../../../src/solana/compute-budget.ts";
import { MAX_TRANSACTION_ACCOUNTS } from "../../../src/solana/message.ts";
import { measureRoutes } from "../../../src/trade/build/route-fit.ts";
import { leanRoute, olderRoute } from "../../../src/trade/quote/lean-route.ts";
import type { Route, RouteStep } from "../../../src/trade/quote/route.ts";
import { memoryPorts } from "../../support/memory-ports.ts";
import { askOf, type RoutedAsk, routesFor } from "./routed.ts";
import { drawWorld, type RoutingWorld } from "./worlds.ts";

const { values } = parseArgs({
  options: { asks: { type: "string", default: "2000" }, seed: { type: "string", default: "57" } },
});
/** Parts of the deepest market's reserve. */
const SIZES = [0.001, 0.01, 0.05, 0.2] as const;
const DRAFTED_ACCOUNTS = 96;
const WALLET = Address.from(new Uint8Array(32).fill(7));

/** An account of a step, by its place in the swap. */
type Named = (step: RouteStep, address: Address, place: number) => boolean;

/** The second and third array of an `orca_whirlpool` swap by the older instruction, which may repeat the first. */
const REPEATED = [8, 9];

/** What swaps would not name. */
const FORMS: Readonly<Record<string, Named>> = {
  "as built": () => false,
  "one array on orca_whirlpool": (step, _, place) => step.hot.venue.id === "orca_whirlpool" && REPEATED.includes(place),
};

/** Stands for the wallet's account of a mint. */
function heldIn(mint: Address): Address {
  return Address.from(createHash("sha256").update("held").update(mint.bytes).digest());
}

/** Accounts and compute units of a route's swaps, for a wallet that has its token accounts. */
function loadOf({ steps }: Route, isLeftOut: Named): { readonly accounts: number; readonly units: number } {
  const accounts = new Set<Address>([WALLET]);
  let units = 0;
  for (const step of steps) {
    const { hot, quote } = step;
    const [source, destination] = [heldIn(quote.inMint), heldIn(quote.outMint)];
    const terms = { wallet: WALLET, source, destination, threshold: 1n, salt: 0, exists: () => true };
    const leg = hot.venue.swap(hot.state, quote, terms);
    units += leg.computeUnits;
    for (const { program, accounts: named } of leg.instructions) {
      accounts.add(program);
      for (const [place, { address }] of named.entries()) if (!isLeftOut(step, address, place)) accounts.add(address);
    }
  }
  return { accounts: accounts.size, units };
}

/** True if a route fits into a transaction of version 1 of a wallet that has its token accounts. */
function isComposed({ mints, clock }: RoutingWorld, { intent, snapshot }: RoutedAsk, route: Route): boolean {
  const base = memoryPorts({ mint: mints[0]!, clock, wallet: WALLET, markets: [] });
  const ports = { ...base, settings: { ...base.settings, transactionV1: true } };
  return measureRoutes(ports, intent, snapshot, [route], 1)[0]!.kind !== "never";
}

const tallies = SIZES.map(() => ({ asks: 0, composed: 0, drafted: 0, fits: new Map<string, number>() }));
const random = createRandom(Number(values.seed));
for (let made = 0; made < Number(values.asks); ) {
  const world = drawWorld(random);
  for (const [index, size] of SIZES.entries()) {
    const amount = BigInt(Math.floor(Number(world.depth) * size * (0.5 + random.u32() / 2 ** 32)));
    const asked = askOf(world, amount);
    const [best] = routesFor(asked, world).routes;
    if (best === undefined) continue;
    made++;
    const tally = tallies[index]!;
    tally.asks++;
    if (isComposed(world, asked, best)) tally.composed++;
    const route = leanRoute(olderRoute(best));
    for (const [name, isLeftOut] of Object.entries(FORMS)) {
      const { accounts, units } = loadOf(route, isLeftOut);
      if (units > MAX_COMPUTE_UNITS) continue;
      if (accounts <= MAX_TRANSACTION_ACCOUNTS) tally.fits.set(name, (tally.fits.get(name) ?? 0) + 1);
      if (name === "as built" && accounts <= DRAFTED_ACCOUNTS) tally.drafted++;
    }
  }
}
const row = (name: string, cells: readonly string[]) =>
  process.stdout.write(`${name.padEnd(30)} ${cells.map((cell) => cell.padEnd(8)).join(" ")}\n`);
const percent = (part: number, asks: number) => `${((part / asks) * 100).toFixed(1)} %`;
row(
  "best routes that fit",
  SIZES.map((size) => `${size * 100} %`),
);
for (const name of Object.keys(FORMS))
  row(
    name,
    tallies.map(({ asks, fits }) => percent(fits.get(name) ?? 0, asks)),
  );
row(
  "composed, version 1",
  tallies.map(({ asks, composed }) => percent(composed, asks)),
);
row(
  `as built, ${DRAFTED_ACCOUNTS} accounts`,
  tallies.map(({ asks, drafted }) => percent(drafted, asks)),
);
