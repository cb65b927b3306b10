import { expect, test } from "vitest";
import { TradewireError } from "../../../errors/tradewire-error.ts";
import type { HotMarket, PairMarkets } from "../../../market/port.ts";
import { Address } from "../../../primitives/address.ts";
import { ceilDiv } from "../../../primitives/integer.ts";
import { createRandom, type Random } from "../../../primitives/random.ts";
import type { Ask, Quote, Venue } from "../../../venues/venue.ts";
import type { Intent } from "../../intent.ts";
import { allAtOnce } from "../long-searches.ts";
import { routesOf, type Snapshot } from "../snapshot.ts";

const NETWORKS = 60;
const CLOCK = { slot: 1n, epoch: 1n, unixTimestamp: 1n };
const [A, B, HUB, FAR_HUB] = [1, 2, 3, 4].map((byte) => Address.from(new Uint8Array(32).fill(byte))) as [
  Address,
  Address,
  Address,
  Address,
];

/** What a market holds of each side, and the most that it takes. */
interface Limited {
  readonly reserve: bigint;
  readonly most: bigint;
}

/** A constant product of equal sides that refuses to take more than its limit. */
const venue = {
  id: "limited",
  supports: { exactOut: true },
  quote: ({ reserve, most }: Limited, { mode, inMint, outMint, amount }: Ask): Quote => {
    if (mode === "exactOut" && amount >= reserve) throw refusal();
    const inAmount = mode === "exactIn" ? amount : ceilDiv(reserve * amount, reserve - amount);
    if (inAmount > most) throw refusal();
    const outAmount = mode === "exactIn" ? (reserve * amount) / (reserve + amount) : amount;
    if (outAmount === 0n) throw new TradewireError("VALIDATION_ERROR", "the amount is too small");
    return { mode, inMint, outMint, inAmount, outAmount, priceImpact: 0 } as Quote;
  },
} as unknown as Venue;

const refusal = () => new TradewireError("INSUFFICIENT_LIQUIDITY", "the market holds too little");

function drawPair(a: Address, b: Address, random: Random): PairMarkets {
  const markets = Array.from({ length: Number(random.between(1n, 3n)) }, (): HotMarket => {
    const reserve = random.between(10n ** 8n, 10n ** 10n);
    const state: Limited = { reserve, most: random.between(reserve / 50n, reserve) };
    const market = { venue: "limited", address: Address.from(random.bytes(32)), mints: [a, b], nativeSol: false };
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
  return { direct: { markets: [], faults: [], searched: [] }, hubs, between };
}

test.each(["exactIn", "exactOut"] as const)(
  `${NETWORKS} trades over markets that take only so much are made or refused, %s`,
  (mode) => {
    const random = createRandom(87);
    let made = 0;
    for (let drawn = 0; drawn < NETWORKS; drawn++) {
      const snapshot = drawSnapshot(random);
      const amount = random.between(10n ** 7n, 2n * 10n ** 9n);
      const intent = { inMint: { address: A }, outMint: { address: B }, mode, amount, slippagePpb: 0n } as Intent;
      try {
        const { routes } = allAtOnce(routesOf({ searchSoon: () => undefined }, intent, snapshot, CLOCK));
        expect(routes[0]![mode === "exactIn" ? "inAmount" : "outAmount"]).toBe(amount);
        made++;
      } catch (error) {
        expect(error).toBeInstanceOf(TradewireError);
      }
    }
    expect(made).toBeGreaterThan(NETWORKS / 4);
  },
);
