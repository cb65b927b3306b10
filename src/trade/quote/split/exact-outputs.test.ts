import { expect, test } from "vitest";
import { TradewireError } from "../../../errors/tradewire-error.ts";
import type { HotMarket, PairMarkets } from "../../../market/port.ts";
import { Address } from "../../../primitives/address.ts";
import { ceilDiv, maxOf } from "../../../primitives/integer.ts";
import { createRandom, type Random } from "../../../primitives/random.ts";
import type { Ask, Quote, Venue } from "../../../venues/venue.ts";
import type { Intent } from "../../intent.ts";
import { allAtOnce } from "../long-searches.ts";
import type { Route } from "../route.ts";
import { routesOf, type Snapshot } from "../snapshot.ts";

const NETWORKS = 60;
/** How much more an exact input of as much may give. Fraction. */
const MOST_MISSED = 2e-3;
const CLOCK = { slot: 1n, epoch: 1n, unixTimestamp: 1n };
const [A, B, HUB, FAR_HUB] = [1, 2, 3, 4].map((byte) => Address.from(new Uint8Array(32).fill(byte))) as [
  Address,
  Address,
  Address,
  Address,
];

/** What a constant product holds, by mint. */
type Reserves = ReadonlyMap<Address, bigint>;

const venue = {
  id: "product",
  supports: { exactOut: true },
  quote: (reserves: Reserves, { mode, inMint, outMint, amount }: Ask): Quote => {
    const [x, y] = [reserves.get(inMint)!, reserves.get(outMint)!];
    if (mode === "exactOut" && amount >= y) throw new TradewireError("INSUFFICIENT_LIQUIDITY", "it holds less");
    const inAmount = mode === "exactIn" ? amount : ceilDiv(x * amount, y - amount);
    const outAmount = mode === "exactIn" ? (y * amount) / (x + amount) : amount;
    return { mode, inMint, outMint, inAmount, outAmount, priceImpact: 0 } as Quote;
  },
} as unknown as Venue;

function drawPair(a: Address, b: Address, random: Random): PairMarkets {
  const markets = Array.from({ length: Number(random.between(1n, 3n)) }, (): HotMarket => {
    const depth = random.between(10n ** 9n, 10n ** 10n);
    const state: Reserves = new Map([
      [a, depth],
      [b, random.between(depth / 2n, depth * 2n)],
    ]);
    const market = { venue: "product", address: Address.from(random.bytes(32)), mints: [a, b], nativeSol: false };
    return { venue, market, state, slot: 1n } as unknown as HotMarket;
  });
  return { markets, faults: [], searched: [] };
}

function drawSnapshot(random: Random): Snapshot {
  const hubs = [HUB, FAR_HUB].map((hub) => ({
    hub,
    mint: {} as never,
    toHub: drawPair(A, hub, random),
    fromHub: drawPair(hub, B, random),
  }));
  const between = [{ from: HUB, to: FAR_HUB, pair: drawPair(HUB, FAR_HUB, random) }];
  return { direct: drawPair(A, B, random), hubs, between };
}

function bestRoute(snapshot: Snapshot, mode: Intent["mode"], amount: bigint): Route {
  const intent = { inMint: { address: A }, outMint: { address: B }, mode, amount, slippagePpb: 0n } as Intent;
  return allAtOnce(routesOf({ searchSoon: () => undefined }, intent, snapshot, CLOCK)).routes[0]!;
}

test(`${NETWORKS} exact outputs take no more than an exact input that gives as much`, () => {
  const random = createRandom(4242);
  let worst = 0;
  for (let drawn = 0; drawn < NETWORKS; drawn++) {
    const snapshot = drawSnapshot(random);
    // Up to most of what the best single market holds: that takes many times as much as a division does.
    const deepest = snapshot.direct.markets.map(({ state }) => (state as Reserves).get(B)!).reduce(maxOf);
    const amount = (deepest * random.between(1n, 95n)) / 100n;
    const { inAmount } = bestRoute(snapshot, "exactOut", amount);
    worst = Math.max(worst, Number(bestRoute(snapshot, "exactIn", inAmount).outAmount) / Number(amount) - 1);
  }
  expect(worst).toBeLessThan(MOST_MISSED);
});
