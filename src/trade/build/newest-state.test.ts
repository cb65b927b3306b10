import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { buyFor, FAKE_CLOCK, fakeMarket } from "../../../test/support/fake-market.ts";
import { memoryPorts } from "../../../test/support/memory-ports.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { HotMarket, Markets, PairMarkets } from "../../market/port.ts";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import { SOL_MINT, USDC_MINT } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import type { MintPair, Quote, SwapTerms } from "../../venues/venue.ts";
import { type BuildPorts, buildTrade } from "./build-trade.ts";

const random = createRandom(37);
const [WALLET, MINT, POOL, EXTRA] = Array.from({ length: 4 }, () => Address.from(random.bytes(32))) as [
  Address,
  Address,
  Address,
  Address,
];
const REQUEST = buyFor(WALLET, MINT);

/** The pool at a price, in percent. */
const at = (percent: bigint): HotMarket => ({
  ...fakeMarket({
    ...{ mint: MINT, address: POOL, program: POOL, give: (amount) => (amount * percent) / 100n },
    venue: {
      swap: (_state: unknown, _quote: Quote, { exists }: SwapTerms) => ({
        instructions: [{ program: POOL, accounts: [], data: new Uint8Array(8) }],
        computeUnits: 10_000,
        creates: exists(EXTRA) ? [] : [{ address: EXTRA, space: 10 }],
      }),
    },
  }),
  slot: 900n + percent,
});

/** Ports whose pool moves from 100 % to 150 % during every read of an account. */
function movingPorts(unknown: readonly Address[], missing: readonly Address[] = []): BuildPorts {
  const ports = memoryPorts({ mint: MINT, clock: FAKE_CLOCK, wallet: WALLET, markets: [at(100n)] });
  const pairOf = (percent: bigint): PairMarkets => ({ markets: [at(percent)], faults: [], searched: [] });
  const none: PairMarkets = { markets: [], faults: [], searched: [] };
  let direct = pairOf(100n);
  const read = new Set<Address>();
  const move = async (asked: readonly Address[]) => {
    await Promise.resolve();
    for (const address of asked) read.add(address);
    direct = pairOf(150n);
  };
  const marketsOf = ({ a, b }: { readonly a: Address; readonly b: Address }) =>
    [a, b].includes(SOL_MINT) && [a, b].includes(MINT) ? direct : none;
  const markets = {
    ...ports.markets,
    marketsOf,
    knownMarkets: marketsOf,
    account(address: Address) {
      if (!read.has(address) && unknown.includes(address)) return undefined;
      return !read.has(address) && missing.includes(address) ? null : ports.markets.account(address);
    },
    warm: move,
    refresh: move,
  };
  return { ...ports, markets };
}

test.each([
  ["the wallet was read", movingPorts([WALLET])],
  ["an account that the route may create was read", movingPorts([EXTRA])],
  ["balances were read again", movingPorts([], [WALLET])],
])("a build is priced on what is known when it is made: after %s", async (_what, ports) => {
  const { estimates } = await buildTrade(ports, REQUEST);
  expect(estimates.outAmount).toBe(750_000_000n);
});

test("the first market of a path is no older than the second one, which took longer to read", async () => {
  const [toHub, fromHub] = [Address.from(random.bytes(32)), Address.from(random.bytes(32))];
  const through = (market: Address, mints: readonly [Address, Address], percent: bigint): PairMarkets => {
    const give = (amount: bigint) => (amount * percent) / 100n;
    const hot = fakeMarket({ mint: MINT, address: market, program: market, give, nativeSol: false });
    return { markets: [{ ...hot, market: { ...hot.market, mints } }], faults: [], searched: [] };
  };
  let first = through(toHub, [SOL_MINT, USDC_MINT], 100n);
  const second = through(fromHub, [USDC_MINT, MINT], 100n);
  let isRead = false;
  const readSecond = async () => {
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    first = through(toHub, [SOL_MINT, USDC_MINT], 150n);
    isRead = true;
    return second;
  };
  const none: PairMarkets = { markets: [], faults: [], searched: [] };
  const base = memoryPorts({ mint: MINT, clock: FAKE_CLOCK, wallet: WALLET, markets: [tooSmall()] });
  const reading = Promise.withResolvers<PairMarkets>();
  const known = (pair: MintPair): PairMarkets | undefined => {
    const has = (one: Address) => pair.a === one || pair.b === one;
    if (!has(USDC_MINT)) return base.markets.knownMarkets(pair) as PairMarkets;
    if (has(SOL_MINT)) return first;
    return has(MINT) ? (isRead ? second : undefined) : none;
  };
  const markets: Markets = {
    ...base.markets,
    hubMints: [USDC_MINT],
    marketsOf: (pair) => known(pair) ?? reading.promise,
    knownMarkets: known,
    mint: (one) => ({ ...(base.markets.mint(MINT) as Mint), address: one }),
  };
  void readSecond().then(reading.resolve);
  const { estimates } = await buildTrade({ ...base, markets }, REQUEST);
  // The second market is given what the first one's bound guarantees.
  expect(estimates.outAmount).toBe(746_250_000n);
});

/** A market of the pair that takes no trade of this size. */
const tooSmall = (): HotMarket =>
  fakeMarket({
    ...{ mint: MINT, address: POOL, program: POOL },
    give: () => {
      throw new TradewireError("INSUFFICIENT_LIQUIDITY", "it takes no more");
    },
  });
