import { TradewireError } from "../../src/errors/tradewire-error.ts";
import type { HotMarket, PairMarkets } from "../../src/market/port.ts";
import { Address } from "../../src/primitives/address.ts";
import { ceilDiv } from "../../src/primitives/integer.ts";
import { amountBeforeFee, type TransferFee, transferFeeOn } from "../../src/solana/token/transfer-fee.ts";
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
}

/** What each transfer of a traded mint withholds. */
export interface Taxes {
  readonly input?: TransferFee | undefined;
  readonly output?: TransferFee | undefined;
}

type State = Product & { readonly first: Address; readonly taxes: Taxes };

/** The fee on transfers of a mint. */
const feeOn = ({ input, output }: Taxes, mint: Address) => (mint === A ? input : mint === B ? output : undefined);

const refusal = () => new TradewireError("INSUFFICIENT_LIQUIDITY", "the market holds or takes too little");

const venue = {
  id: "product",
  supports: { exactOut: true },
  quote: ({ first, reserves, most, taxes }: State, { mode, inMint, outMint, amount }: Ask): Quote => {
    const [x, y] = inMint === first ? reserves : ([reserves[1], reserves[0]] as const);
    const [feeIn, feeOut] = [feeOn(taxes, inMint), feeOn(taxes, outMint)];
    const sent = mode === "exactIn" ? 0n : amountBeforeFee(amount, feeOut);
    if (sent >= y) throw refusal();
    const inAmount = mode === "exactIn" ? amount : amountBeforeFee(ceilDiv(x * sent, y - sent), feeIn);
    if (most !== undefined && inAmount > most) throw refusal();
    const arrived = inAmount - transferFeeOn(inAmount, feeIn);
    const paid = (y * arrived) / (x + arrived);
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
}

/** The search of a trade over the network, in steps. It throws a TradewireError if there is no route. */
export function stepsOver(
  snapshot: Snapshot,
  { mode, amount, maxPaths = MOST_PATHS, taxes = {} }: NetworkAsk,
): Steps<FoundRoutes> {
  const always = (fee: TransferFee | undefined) => fee && { older: fee, newer: fee };
  const sides = {
    inMint: { address: A, transferFees: always(taxes.input) },
    outMint: { address: B, transferFees: always(taxes.output) },
  };
  const intent = { ...sides, mode, amount, slippagePpb: 0n, bounds: { ...UNBOUNDED, maxPaths } } as Intent;
  return routesOf({ searchSoon: () => undefined }, intent, snapshot, CLOCK);
}

/** The best route of a trade over the network. @throws TradewireError if there is none */
export function bestRouteOver(snapshot: Snapshot, mode: SwapMode, amount: bigint, maxPaths = MOST_PATHS): Route {
  return allAtOnce(stepsOver(snapshot, { mode, amount, maxPaths })).routes[0]!;
}
