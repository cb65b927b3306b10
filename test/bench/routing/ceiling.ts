/**
 * How many best routes any form known here would fit within the network's limits on accounts and compute units, bytes left out:
 * `node test/bench/routing/ceiling.ts`, with `--asks N --seed S`. Counts the leanest swaps that are built, then leaves out what
 * other forms would not name, each for itself and all together, and then allows the 96 accounts that are drafted.
 */
import { createHash } from "node:crypto";
import { parseArgs } from "node:util";
import { Address } from "../../../src/primitives/address.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import { MAX_COMPUTE_UNITS } from "../../../src/solana/compute-budget.ts";
import { MAX_TRANSACTION_ACCOUNTS } from "../../../src/solana/message.ts";
import { MEMO_PROGRAM, TOKEN_2022_PROGRAM } from "../../../src/solana/programs.ts";
import { leanRoute } from "../../../src/trade/quote/lean-route.ts";
import type { Route, RouteStep } from "../../../src/trade/quote/route.ts";
import { askOf, routesFor } from "./routed.ts";
import { drawWorld } from "./worlds.ts";

const { values } = parseArgs({
  options: { asks: { type: "string", default: "2000" }, seed: { type: "string", default: "57" } },
});
/** Parts of the deepest market's reserve. */
const SIZES = [0.001, 0.01, 0.05, 0.2] as const;
const DRAFTED_ACCOUNTS = 96;
const WALLET = Address.from(new Uint8Array(32).fill(7));

/** An account of a step, by its place in the swap. */
type Named = (step: RouteStep, address: Address, place: number) => boolean;

const isMint = ({ quote }: RouteStep, address: Address) => address === quote.inMint || address === quote.outMint;
const isPlain = (address: Address) => address === MEMO_PROGRAM || address === TOKEN_2022_PROGRAM;
/** The second and third array of an `orca_whirlpool` swap, which may repeat the first. */
const REPEATED = [12, 13];

/** What other forms of a swap would not name. */
const LEFT_OUT: Readonly<Record<string, Named>> = {
  "as built": () => false,
  "swap of raydium_clmm": (step, address) =>
    step.hot.venue.id === "raydium_clmm" && (isMint(step, address) || isPlain(address)),
  "swap of orca_whirlpool": (step, address) =>
    step.hot.venue.id === "orca_whirlpool" && (isMint(step, address) || isPlain(address)),
  "swap of meteora_dlmm": (step, address) => step.hot.venue.id === "meteora_dlmm" && address === MEMO_PROGRAM,
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

const all: Named = (...named) => Object.values(LEFT_OUT).some((isLeftOut) => isLeftOut(...named));
const FORMS = { ...LEFT_OUT, "all of these": all };
const tallies = SIZES.map(() => ({ asks: 0, drafted: 0, fits: new Map<string, number>() }));
const random = createRandom(Number(values.seed));
for (let made = 0; made < Number(values.asks); ) {
  const world = drawWorld(random);
  for (const [index, size] of SIZES.entries()) {
    const amount = BigInt(Math.floor(Number(world.depth) * size * (0.5 + random.u32() / 2 ** 32)));
    const [best] = routesFor(askOf(world, amount), world).routes;
    if (best === undefined) continue;
    made++;
    const tally = tallies[index]!;
    tally.asks++;
    const route = leanRoute(best);
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
  `as built, ${DRAFTED_ACCOUNTS} accounts`,
  tallies.map(({ asks, drafted }) => percent(drafted, asks)),
);
