import { TradewireError } from "../../src/errors/tradewire-error.ts";
import type { HotMarket, PairMarkets } from "../../src/market/port.ts";
import { Address } from "../../src/primitives/address.ts";
import { ceilDiv } from "../../src/primitives/integer.ts";
import type { ChainClock } from "../../src/solana/account.ts";
import {
  amountBeforeFee,
  type TransferFee,
  type TransferFees,
  transferFeeAt,
  transferFeeOn,
} from "../../src/solana/token/transfer-fee.ts";
import type { Intent } from "../../src/trade/intent.ts";
import { allAtOnce, type Steps } from "../../src/trade/quote/long-searches.ts";
import type { Route } from "../../src/trade/quote/route.ts";
import { MOST_PATHS, UNBOUNDED } from "../../src/trade/quote/route-bounds.ts";
import { type FoundRoutes, routesOf, type Snapshot } from "../../src/trade/quote/snapshot.ts";
import type { Ask, Quote, SwapMode, Venue } from "../../src/venues/venue.ts";

const CLOCK = { slot: 1n, epoch: 1n, unixTimestamp: 1n };
const [A, B, HUB, FAR_HUB] = [1, 2, 3, 4].map((byte) => Address.from(new Uint8Array(32).fill(byte))) as [
  Address,
  Address,
  Address,
  Address,
];

/** A constant product without a fee. Base units. */
export interface Product {
  /** Of the pair's first mint and of the other. */
  readonly reserves: readonly [bigint, bigint];
  /** What it refuses to take more than; absent: it takes anything. */
  readonly most?: bigint;
  /** Percent of the output that it pays at a moment; absent: all of it, always. */
  readonly pays?: (clock: ChainClock) => bigint;
}

/** What each transfer of a traded mint withholds: always, or by epoch. */
export interface Taxes {
  readonly input?: TransferFee | TransferFees | undefined;
  readonly output?: TransferFee | TransferFees | undefined;
}

const byEpoch = (fee: TransferFee | TransferFees): TransferFees => ("older" in fee ? fee : { older: fee, newer: fee });

type State = Product & { readonly first: Address; readonly taxes: Taxes };

/** The fee on transfers of a mint. */
const feeOn = ({ input, output }: Taxes, mint: Address, { epoch }: ChainClock): TransferFee | undefined => {
  const fee = mint === A ? input : mint === B ? output : undefined;
  return fee && transferFeeAt(byEpoch(fee), epoch);
};

const refusal = () => new TradewireError("INSUFFICIENT_LIQUIDITY", "the market holds or takes too little");

const venue = {
  id: "product",
  supports: { exactOut: true },
  quote: ({ first, reserves, most, pays, taxes }: State, { mode, inMint, outMint, amount, clock }: Ask): Quote => {
    const [x, y] = inMint === first ? reserves : ([reserves[1], reserves[0]] as const);
    const [feeIn, feeOut] = [feeOn(taxes, inMint, clock), feeOn(taxes, outMint, clock)];
    const share = pays?.(clock) ?? 100n;
    if (share === 0n) throw refusal();
    const sent = mode === "exactIn" ? 0n : ceilDiv(amountBeforeFee(amount, feeOut) * 100n, share);
    if (sent >= y) throw refusal();
    const inAmount = mode === "exactIn" ? amount : amountBeforeFee(ceilDiv(x * sent, y - sent), feeIn);
    if (most !== undefined && inAmount > most) throw refusal();
    const arrived = inAmount - transferFeeOn(inAmount, feeIn);
    const paid = (((y * arrived) / (x + arrived)) * share) / 100n;
    const outAmount = mode === "exactIn" ? paid - transferFeeOn(paid, feeOut) : amount;
    if (outAmount === 0n) throw new TradewireError("VALIDATION_ERROR", "the amount is too small");
    return { mode, inMint, outMint, inAmount, outAmount, priceImpact: 0 } as Quote;
  },
} as unknown as Venue;

/** Which pair of the network: between the traded mints, to and from the first and the second hub, and from one to the other. */
export type NetworkPair = "ab" | "ah" | "hb" | "af" | "fb" | "hf";

/** Constant products between two mints and over two hubs. */
export function hubNetwork(productsOf: (pair: NetworkPair) => readonly Product[], taxes: Taxes = {}): Snapshot {
  let made = 0;
  const pairOf = (first: Address, second: Address, products: readonly Product[]): PairMarkets => {
    const markets = products.map((product): HotMarket => {
      const address = Address.from(new Uint8Array(32).fill(100 + made++));
      const market = { venue: venue.id, address, mints: [first, second], nativeSol: false };
      return { venue, market, state: { ...product, first, taxes } satisfies State, slot: 1n } as unknown as HotMarket;
    });
    return { markets, faults: [], searched: [] };
  };
  const mint = {} as never;
  return {
    direct: pairOf(A, B, productsOf("ab")),
    hubs: [
      { hub: HUB, mint, toHub: pairOf(A, HUB, productsOf("ah")), fromHub: pairOf(HUB, B, productsOf("hb")) },
      {
        hub: FAR_HUB,
        mint,
        toHub: pairOf(A, FAR_HUB, productsOf("af")),
        fromHub: pairOf(FAR_HUB, B, productsOf("fb")),
      },
    ],
    between: [{ from: HUB, to: FAR_HUB, pair: pairOf(HUB, FAR_HUB, productsOf("hf")) }],
  };
}

/** A trade over the network, as amount of base units. */
interface NetworkAsk {
  readonly mode: SwapMode;
  readonly amount: bigint;
  readonly maxPaths?: number;
  /** As the network's. */
  readonly taxes?: Taxes;
  /** Absent: the first moment. */
  readonly clock?: ChainClock;
  /** See `SplitTerms`. */
  readonly capacity?: string;
}

/** The search of a trade over the network, in steps. It throws a TradewireError if there is no route. */
export function stepsOver(
  snapshot: Snapshot,
  { mode, amount, maxPaths = MOST_PATHS, taxes: { input, output } = {}, clock = CLOCK, capacity }: NetworkAsk,
): Steps<FoundRoutes> {
  const sides = {
    inMint: { address: A, transferFees: input && byEpoch(input) },
    outMint: { address: B, transferFees: output && byEpoch(output) },
  };
  const intent = { ...sides, mode, amount, slippagePpb: 0n, bounds: { ...UNBOUNDED, maxPaths } } as Intent;
  return routesOf({ searchSoon: () => undefined }, intent, snapshot, clock, { capacity });
}

/** The best route of a trade over the network. @throws TradewireError if there is none */
export function bestRouteOver(snapshot: Snapshot, mode: SwapMode, amount: bigint, maxPaths = MOST_PATHS): Route {
  return allAtOnce(stepsOver(snapshot, { mode, amount, maxPaths })).routes[0]!;
}
