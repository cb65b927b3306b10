import type { HotMarket, PairMarkets } from "../../../src/market/port.ts";
import { Address } from "../../../src/primitives/address.ts";
import type { Random } from "../../../src/primitives/random.ts";
import { SYSTEM_PROGRAM } from "../../../src/solana/programs.ts";
import { decodeMint } from "../../../src/solana/token/mint.ts";
import type { BuildPorts } from "../../../src/trade/build/build-trade.ts";
import { venues } from "../../../src/venues/registry.ts";
import { readMarket } from "../../conformance/trades.ts";
import { alwaysLean } from "../../support/lean-venue.ts";
import { memoryPorts } from "../../support/memory-ports.ts";
import type { DrawnWorld } from "./drawn-world.ts";

/** Receives tips. */
const TIP_ACCOUNT = Address.of("96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5");

/** Micro-lamports per compute unit: nothing, what rounds up, the usual, and what weighs against what a route gains. */
const PRICES = [0n, 1n, 10_000n, 10_000n, 999_999n, 50_000_000n] as const;
/** Numbers of builds are below this, and follow one another at this distance: so all recipients of fees have their turn. */
const NONCES = 1 << 14;
const NEXT = 2_741;

/** Makes the ports of one build after the other, each on what the world's chain holds then. */
export function worldPorts(world: DrawnWorld): (random: Random) => BuildPorts {
  const { svm, pair, mints, insider } = world;
  svm.setAccount({ address: TIP_ACCOUNT, owner: SYSTEM_PROGRAM, data: new Uint8Array(0) });
  const base = memoryPorts({ mint: pair[1], clock: svm.clock(), wallet: insider, markets: [] });
  const account = (address: Address) => svm.get(address);
  const mint = (address: Address) => {
    const found = svm.get(address);
    return found === null ? null : decodeMint(found);
  };
  const hubMints = mints.filter((one) => !pair.includes(one));
  let nonce = 0;
  const nextNonce = (): number => {
    nonce = (nonce + NEXT) % NONCES;
    return nonce;
  };
  return (random) => {
    const hot = hotMarkets(world, random.chance(0.15));
    const marketsOf = ({ a, b }: { readonly a: Address; readonly b: Address }): PairMarkets => ({
      markets: hot.filter(({ pair }) => pair.includes(a) && pair.includes(b)).map(({ market }) => market),
      faults: [],
      searched: [],
    });
    const clock = svm.clock();
    const price = random.pick(PRICES);
    const tips = random.chance(0.1) ? [{ to: TIP_ACCOUNT, lamports: random.between(1_000n, 4_900_000n) }] : [];
    return {
      ...base,
      head: { ...base.head, clock: () => clock, rentExemption: (space) => svm.rent(space) },
      markets: { ...base.markets, hubMints, marketsOf, knownMarkets: marketsOf, mint, account },
      senders: { choose: () => ({ senders: ["relay"], tips }) },
      nextNonce,
      fees: { ...base.fees, priceMicroLamportsPerCu: () => price },
      settings: { ...base.settings, transactionV1: random.chance(0.5) },
    };
  };
}

interface HotPair {
  readonly market: HotMarket;
  readonly pair: readonly [Address, Address];
}

function hotMarkets({ svm, places }: DrawnWorld, isLean: boolean): readonly HotPair[] {
  return places.map(({ venue: id, address, mints }) => {
    const venue = venues.find((one) => one.id === id)!;
    const { market, state } = readMarket(svm, venue, address, { a: mints[0], b: mints[1] });
    const served = isLean ? alwaysLean(venue) : venue;
    return { pair: mints, market: { venue: served, market, state, slot: svm.clock().slot } };
  });
}
