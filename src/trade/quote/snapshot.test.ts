import { expect, test } from "vitest";
import { drawWorld } from "../../../test/bench/routing/worlds.ts";
import { readSampleMarkets } from "../../../test/support/sample-markets.ts";
import type { ErrorCode } from "../../errors/error-codes.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { HotMarket, Markets, PairMarkets } from "../../market/port.ts";
import { subjectsOf } from "../../market/search/search-subject.ts";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import { HUB_MINTS } from "../../solana/hub-mints.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import type { Quote } from "../../venues/venue.ts";
import type { Intent } from "../intent.ts";
import { allAtOnce } from "./long-searches.ts";
import { routeBoundsOf } from "./route-bounds.ts";
import { awaitSnapshot, routesOf, takeSnapshot } from "./snapshot.ts";

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

test("a trade waits for a hub whose state a landed transaction has left behind: without it, it may seem impossible", async () => {
  const { world, from, to, hub } = worldWithoutDirect();
  let isLate = true;
  const markets: Pick<Markets, "marketsOf" | "knownMarkets" | "mint" | "hubMints"> = {
    hubMints: [hub],
    async marketsOf({ a, b }) {
      isLate = false;
      return world.marketsOf(a, b);
    },
    knownMarkets: ({ a, b }) => (isLate && b === to ? "late" : world.marketsOf(a, b)),
    mint: mintOf,
  };
  // The pair itself is known, and has a market.
  const direct = world.marketsOf(from, hub);
  const memory = { ...markets, marketsOf: () => direct };
  expect(takeSnapshot(memory, from, to)).toBeUndefined();
  const { hubs } = await awaitSnapshot(markets, from, to);
  expect(hubs.map((one) => one.hub)).toEqual([hub]);
  expect(takeSnapshot(memory, from, to)!.hubs.map((one) => one.hub)).toEqual([hub]);
});

test("a hub whose state does not arrive is left out of a trade that has a market of its own, and refuses another", async () => {
  const { world, from, to, hub } = worldWithoutDirect();
  const stale = new TradewireError("STATE_STALE", "no node has reported it yet");
  const direct = world.marketsOf(from, hub);
  const markets = (own: PairMarkets, lost: TradewireError): Parameters<typeof awaitSnapshot>[0] => ({
    hubMints: [hub],
    async marketsOf({ a, b }) {
      if (a === from && b === to) return own;
      if (b === to) throw lost;
      return world.marketsOf(a, b);
    },
    knownMarkets: () => "late",
    mint: mintOf,
  });
  expect(await awaitSnapshot(markets(direct, stale), from, to)).toMatchObject({ direct, hubs: [] });
  await expect(awaitSnapshot(markets(EMPTY, stale), from, to)).rejects.toBe(stale);
  const failure = new TradewireError("UPSTREAM_ERROR", "no node answers");
  await expect(awaitSnapshot(markets(direct, failure), from, to)).rejects.toBe(failure);
});

test("a pair of two hubs whose state does not arrive is left out likewise", async () => {
  const { world, from, to, hub } = worldWithoutDirect();
  const other = Address.from(new Uint8Array(32).fill(201));
  const stale = new TradewireError("STATE_STALE", "no node has reported it yet");
  const some = world.marketsOf(from, hub);
  const markets = (own: PairMarkets): Parameters<typeof awaitSnapshot>[0] => ({
    hubMints: [hub, other],
    async marketsOf({ a, b }) {
      if (a === from && b === to) return own;
      if ([a, b].every((mint) => mint === hub || mint === other)) throw stale;
      return some;
    },
    knownMarkets: () => "late",
    mint: mintOf,
  });
  const { hubs, between } = await awaitSnapshot(markets(some), from, to);
  expect([hubs.length, between]).toEqual([2, []]);
  await expect(awaitSnapshot(markets(EMPTY), from, to)).rejects.toBe(stale);
});

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

test("a pair is searched again if its markets are closed or there are none, not for what a request leaves out", () => {
  const { markets: samples, mint, clock } = readSampleMarkets();
  const known = samples.filter(({ venue }) => venue.id === "raydium_cpmm").map(({ hot }) => hot);
  const refusing = (code: ErrorCode): HotMarket => ({
    ...known[0]!,
    venue: {
      ...known[0]!.venue,
      quote: () => {
        throw new TradewireError(code, "the market does not make it");
      },
    },
  });
  const factsOf = (markets: readonly HotMarket[]) => failing(markets)[0]?.facts;
  const asked = (markets: readonly HotMarket[], bounds: Parameters<typeof routeBoundsOf>[0] = {}) => {
    const [error, searches] = failing(markets, bounds);
    return [error?.message ?? "a route", searches];
  };
  function failing(
    markets: readonly HotMarket[],
    bounds: Parameters<typeof routeBoundsOf>[0] = {},
  ): [TradewireError | undefined, number] {
    let searches = 0;
    const intent: Intent = {
      ...{ inMint: mintOf(mint), outMint: mintOf(SOL_MINT), mode: "exactIn", amount: 1_000_000n },
      ...{ slippagePpb: 0n, emptied: undefined, bounds: routeBoundsOf(bounds) },
    };
    const snapshot = { direct: { markets, faults: [], searched: [] }, hubs: [] };
    const routes = routesOf({ searchSoon: () => void searches++ }, intent, snapshot, clock);
    try {
      allAtOnce(routes);
      return [undefined, searches];
    } catch (error) {
      return [error as TradewireError, searches];
    }
  }
  expect(asked(known)).toEqual(["a route", 0]);
  expect(asked([])).toEqual([expect.stringContaining("No supported venue"), 1]);
  expect(asked([], { directOnly: true })).toEqual([expect.stringContaining("that this request allows"), 1]);
  expect(asked([refusing("NO_ROUTE")])).toEqual([expect.stringContaining("No market can make this trade now"), 1]);
  const bySize = [refusing("INSUFFICIENT_LIQUIDITY"), refusing("VALIDATION_ERROR")];
  expect(asked(bySize)).toEqual([expect.stringContaining("No market can make this trade now"), 0]);
  const quoted: bigint[] = [];
  const between = (low: bigint, high: bigint): HotMarket => ({
    ...refusing("INSUFFICIENT_LIQUIDITY"),
    venue: {
      ...known[0]!.venue,
      quote: (_, { amount }) => {
        // Powers of two are asked for what bounds the market's price.
        if (amount !== 1_000_000n && (amount & (amount - 1n)) !== 0n) quoted.push(amount);
        if (amount >= low && amount <= high) return { outAmount: 1n } as Quote;
        throw new TradewireError(amount < low ? "VALIDATION_ERROR" : "INSUFFICIENT_LIQUIDITY", "not this much");
      },
    },
  });
  const apart = [between(1n, 70_000n), between(9_000_000n, 10n ** 12n)];
  expect(factsOf(apart)).toMatchObject({
    field: "amount",
    details: { lowerAmount: "62500", higherAmount: "16000000", tried: expect.stringContaining("not this much") },
  });
  // Six amounts on either side: a caller can make a market that every refusal walks to its end.
  expect(quoted.length).toBeLessThanOrEqual(12);
  quoted.length = 0;
  expect(factsOf([between(1n, 1n), between(1n, 1n), refusing("VALIDATION_ERROR")])?.details).toMatchObject({
    lowerAmount: "1",
  });
  expect(quoted.length).toBeLessThanOrEqual(12);
  expect(factsOf([between(9_000_000n, 10n ** 12n), refusing("INSUFFICIENT_LIQUIDITY")])?.details).not.toHaveProperty(
    "lowerAmount",
  );
  // A completed curve beside the pool that it became: the pool alone says what is wrong with the trade.
  const tooLarge = [refusing("NO_ROUTE"), refusing("INSUFFICIENT_LIQUIDITY")];
  expect(asked(tooLarge)).toEqual(["No market holds enough for this trade. Trade less.", 1]);
  const tooSmall = [refusing("VALIDATION_ERROR"), refusing("NO_ROUTE")];
  expect(asked(tooSmall)).toEqual(["The market does not make it.", 1]);
  for (const bounds of [{ venues: ["meteora_dbc"] }, { excludeVenues: ["raydium_cpmm"] }])
    expect(asked(known, bounds)).toEqual([expect.stringContaining("that this request allows"), 0]);
});

test("a hub is searched with each mint it trades, never with all there are", () => {
  const { from, hub } = worldWithoutDirect();
  expect(subjectsOf({ a: from, b: hub }).map(({ mint }) => mint)).toEqual([from, hub]);
  expect(subjectsOf({ a: from, b: hub }, [hub]).map(({ mint }) => mint)).toEqual([from]);
});
