import { expect, test } from "vitest";
import { buyFor, FAKE_CLOCK, fakeMarket } from "../../../test/support/fake-market.ts";
import { memoryPorts } from "../../../test/support/memory-ports.ts";
import type { HotMarket, PairMarkets } from "../../market/port.ts";
import { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import { SOL_MINT } from "../../solana/programs.ts";
import type { Quote, SwapTerms } from "../../venues/venue.ts";
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
