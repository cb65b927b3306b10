import { expect, test } from "vitest";
import { buyFor, FAKE_CLOCK, fakeMarket } from "../../../test/support/fake-market.ts";
import { memoryPorts } from "../../../test/support/memory-ports.ts";
import type { HotMarket, PairMarkets } from "../../market/port.ts";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import { SOL_MINT, USDC_MINT } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import type { MintPair } from "../../venues/venue.ts";
import { quoteTrade } from "../quote/quote-trade.ts";
import { buildTrade } from "./build-trade.ts";
import { measureRoutes } from "./route-fit.ts";

const random = createRandom(8_900_001);
const address = () => Address.from(random.bytes(32));
const [WALLET, MINT] = [address(), address()];
/** Accounts of a swap of which two are too many for a transaction, and of one that leaves room. */
const [MANY, FEW] = [14, 4];

/** A market whose venue names so many accounts and keeps so many percent. */
function market(id: string, mints: readonly [Address, Address], count: number, percent: bigint): HotMarket {
  const accounts = Array.from({ length: count }, address);
  const give = (amount: bigint) => amount - (amount * percent) / 100n;
  const hot = fakeMarket({ ...{ id, mint: MINT, address: address(), program: address() }, accounts, give });
  return { ...hot, market: { ...hot.market, mints, nativeSol: false } };
}

/** The venues of the market from SOL to the hub and of that from there, as a build and as a quote have them. */
async function routed(direct: readonly HotMarket[], amount = 0.5): Promise<readonly string[]> {
  const halves = [
    { mints: [SOL_MINT, USDC_MINT], slim: 3n },
    { mints: [USDC_MINT, MINT], slim: 8n },
  ] as const;
  const overHub = halves.flatMap(({ mints, slim }) => [
    market("wide", mints, MANY, 1n),
    market("wide", mints, MANY, 2n),
    market("slim", mints, FEW, slim + 1n),
    market("slim", mints, FEW, slim),
  ]);
  const base = memoryPorts({ mint: MINT, clock: FAKE_CLOCK, wallet: WALLET, markets: direct });
  const pairOf = ({ a, b }: MintPair): PairMarkets => {
    const markets = [...direct, ...overHub].filter((hot) => hot.market.mints.every((mint) => mint === a || mint === b));
    return { markets, faults: [], searched: [] };
  };
  const mint = (one: Address) => ({ ...(base.markets.mint(MINT) as Mint), address: one });
  const markets = { ...base.markets, hubMints: [USDC_MINT], marketsOf: pairOf, knownMarkets: pairOf, mint };
  const ports = { ...base, markets };
  const order = { ...buyFor(WALLET, MINT, amount), maxPaths: 1 };
  const built = await buildTrade(ports, order);
  const asked = { ...order, caller: undefined } as never;
  const quoted = await quoteTrade({ ...ports, measureRoutes: (...trade) => measureRoutes(ports, ...trade) }, asked);
  expect(quoted.route.map((leg) => leg.market)).toEqual(built.route.map((leg) => leg.market));
  expect(built.estimates.outAmount).toBe(quoted.estimates.outAmount);
  return built.route.map(({ venue }) => venue);
}

test("if swaps of the best venues do not fit together, a hub is passed over others", async () => {
  expect(await routed([])).toEqual(["slim", "wide"]);
});

test("a market of the pair that gives less than these is not taken in their place", async () => {
  const direct = market("wide", [SOL_MINT, MINT], FEW, 10n);
  expect(await routed([direct])).toEqual(["slim", "wide"]);
  const better = market("wide", [SOL_MINT, MINT], FEW, 1n);
  expect(await routed([better])).toEqual(["wide"]);
});
