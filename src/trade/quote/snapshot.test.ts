import { expect, test } from "vitest";
import { drawWorld } from "../../../test/bench/routing/worlds.ts";
import type { Markets, PairMarkets } from "../../market/port.ts";
import { subjectsOf } from "../../market/search/search-subject.ts";
import type { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import { HUB_MINTS } from "../../solana/hub-mints.ts";
import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import type { Intent } from "../intent.ts";
import { allAtOnce } from "./long-searches.ts";
import { routesOf, takeSnapshot } from "./snapshot.ts";

const EMPTY: PairMarkets = { markets: [], faults: [], searched: [] };
const mintOf = (address: Address) => ({ address, program: TOKEN_PROGRAM, decimals: 9, supply: 10n ** 18n }) as Mint;

/** A world whose two mints share a hub but no market. */
function worldWithoutDirect() {
  const random = createRandom(16);
  for (;;) {
    const world = drawWorld(random);
    const [from, to, hub] = world.mints as [Address, Address, Address | undefined];
    if (hub === undefined || world.marketsOf(from, to).markets.length > 0) continue;
    if (world.marketsOf(from, hub).markets.length > 0 && world.marketsOf(hub, to).markets.length > 0)
      return { world, from, to, hub };
  }
}

test("a trade passes through the hubs that the operator names, and through no others", () => {
  const { world, from, to, hub } = worldWithoutDirect();
  const asked = new Set<Address>();
  const marketsWith = (hubMints?: readonly Address[]): Pick<Markets, "marketsOf" | "knownMarkets" | "mint"> => ({
    ...(hubMints === undefined ? {} : { hubMints }),
    marketsOf: ({ a, b }) => world.marketsOf(a, b),
    knownMarkets: ({ a, b }) => {
      for (const mint of [a, b]) if (mint !== from && mint !== to) asked.add(mint);
      return world.mints.includes(a) && world.mints.includes(b) ? world.marketsOf(a, b) : EMPTY;
    },
    mint: mintOf,
  });
  const snapshot = takeSnapshot(marketsWith([hub]), from, to)!;
  expect([...asked]).toEqual([hub]);
  const amount = world.depth / 1_000n;
  const intent: Intent = {
    inMint: mintOf(from),
    outMint: mintOf(to),
    mode: "exactIn",
    amount,
    slippagePpb: 0n,
    emptied: undefined,
  };
  const { routes } = allAtOnce(routesOf({ searchSoon: () => undefined }, intent, snapshot, world.clock));
  expect(routes[0]!.steps.length).toBeGreaterThan(1);
  for (const { quote } of routes.flatMap(({ steps }) => steps))
    expect([from, to, hub]).toEqual(expect.arrayContaining([quote.inMint, quote.outMint]));

  for (const odd of [{ unsupported: "it cannot be transferred" }, { transferFees: {} }]) {
    const mint = (address: Address) => ({ ...mintOf(address), ...(address === hub ? odd : {}) }) as Mint;
    expect(takeSnapshot({ ...marketsWith([hub]), mint }, from, to)?.hubs ?? []).toEqual([]);
  }

  asked.clear();
  expect(takeSnapshot(marketsWith([]), from, to)?.hubs).toEqual([]);
  expect([...asked]).toEqual([]);
  takeSnapshot(marketsWith(), from, to);
  expect([...asked]).toEqual([...HUB_MINTS]);
});

test("a hub is searched with each mint it trades, never with all there are", () => {
  const { from, hub } = worldWithoutDirect();
  expect(subjectsOf({ a: from, b: hub }).map(({ mint }) => mint)).toEqual([from, hub]);
  expect(subjectsOf({ a: from, b: hub }, [hub]).map(({ mint }) => mint)).toEqual([from]);
});
