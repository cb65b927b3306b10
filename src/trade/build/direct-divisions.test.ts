import { expect, test } from "vitest";
import { buyFor, FAKE_CLOCK, fakeMarket } from "../../../test/support/fake-market.ts";
import { memoryPorts } from "../../../test/support/memory-ports.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { HotMarket, Markets, PairMarkets } from "../../market/port.ts";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import { SOL_MINT, USDC_MINT } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import type { Ask, MintPair, Quote } from "../../venues/venue.ts";
import { quoteTrade } from "../quote/quote-trade.ts";
import { buildTrade } from "./build-trade.ts";
import { measureRoutes } from "./route-fit.ts";

const random = createRandom(213);
const address = () => Address.from(random.bytes(32));
const [WALLET, MINT] = [address(), address()];

/** A constant product that takes no more than six tenths of a SOL, and whose swap names accounts. */
function market(mints: readonly [Address, Address], depth: bigint, count: number): HotMarket {
  const accounts = Array.from({ length: count }, address);
  const hot = fakeMarket({
    ...{ mint: MINT, address: address(), program: address(), accounts, nativeSol: false },
    give: (amount) => {
      if (amount > 600_000_000n) throw new TradewireError("INSUFFICIENT_LIQUIDITY", "it takes no more");
      return (depth * amount) / (depth + amount);
    },
  });
  return { ...hot, market: { ...hot.market, mints } };
}

const anyAmount = (_state: unknown, ask: Ask): Quote => ({
  ...ask,
  inAmount: ask.amount,
  outAmount: ask.amount,
  priceImpact: 0,
  fill: undefined,
});

test("a trade that only a hub can make waits for the hub's markets while they are being read", async () => {
  const direct = [market([SOL_MINT, MINT], 10n ** 9n, 4)];
  const hub = [SOL_MINT, MINT].map((mint) => market([mint, USDC_MINT], 10n ** 11n, 4));
  const wide = hub.map((hot) => ({ ...hot, venue: { ...hot.venue, quote: anyAmount } }));
  const base = memoryPorts({ mint: MINT, clock: FAKE_CLOCK, wallet: WALLET, markets: direct });
  const pairOf = ({ a, b }: MintPair): PairMarkets => {
    const names = [a, b];
    return {
      markets: [...direct, ...wide].filter((hot) => hot.market.mints.every((one) => names.includes(one))),
      faults: [],
      searched: [],
    };
  };
  const isHubs = ({ a, b }: MintPair) => a === USDC_MINT || b === USDC_MINT;
  const markets: Markets = {
    ...base.markets,
    hubMints: [USDC_MINT],
    marketsOf: (pair) => (isHubs(pair) ? Promise.resolve(pairOf(pair)) : pairOf(pair)),
    knownMarkets: (pair) => (isHubs(pair) ? undefined : pairOf(pair)),
    mint: (one) => ({ ...(base.markets.mint(MINT) as Mint), address: one }),
  };
  const built = await buildTrade({ ...base, markets }, buyFor(WALLET, MINT, 1));
  expect(built.route.map((leg) => leg.outMint)).toEqual([USDC_MINT, MINT]);
});

test("a trade whose divisions over a hub do not fit is divided between the markets of its pair", async () => {
  const direct = [market([SOL_MINT, MINT], 10n ** 9n, 4), market([SOL_MINT, MINT], 10n ** 9n, 4)];
  const toHub = [market([SOL_MINT, USDC_MINT], 10n ** 11n, 12)];
  const fromHub = [market([USDC_MINT, MINT], 10n ** 11n, 12)];
  const base = memoryPorts({ mint: MINT, clock: FAKE_CLOCK, wallet: WALLET, markets: direct });
  const pairOf = ({ a, b }: MintPair): PairMarkets => {
    const names = [a, b];
    const all = [...direct, ...toHub, ...fromHub];
    return {
      markets: all.filter((hot) => hot.market.mints.every((one) => names.includes(one))),
      faults: [],
      searched: [],
    };
  };
  const markets = {
    ...base.markets,
    hubMints: [USDC_MINT],
    marketsOf: pairOf,
    knownMarkets: pairOf,
    mint: (one: Address) => ({ ...(base.markets.mint(MINT) as Mint), address: one }),
  };
  // No market takes it alone; the best divisions use the hub.
  const built = await buildTrade({ ...base, markets }, buyFor(WALLET, MINT, 1));
  expect(built.route.map((leg) => leg.market).sort()).toEqual(direct.map((hot) => hot.market.address).sort());
  expect(built.estimates.fitLoss).toBeGreaterThan(0);
  const ports = { ...base, markets };
  const asked = { ...buyFor(WALLET, MINT, 1), caller: undefined } as never;
  const quoted = await quoteTrade({ ...ports, measureRoutes: (...trade) => measureRoutes(ports, ...trade) }, asked);
  expect(quoted.route.map((leg) => leg.market)).toEqual(built.route.map((leg) => leg.market));
  expect(quoted.estimates.outAmount).toBe(built.estimates.outAmount);
  expect(quoted.estimates.fitLoss).toBeGreaterThan(0);
});
