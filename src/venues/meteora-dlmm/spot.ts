import { numberI32, priceBound, type SpotBounds } from "../spot-bound.ts";
import { arrayIndexOf, bitmapExtensionOf, type DlmmMarket } from "./layout.ts";
import type { DlmmState } from "./state.ts";

/** Fees are parts per billion, at most 10 %. */
const FEE_DENOMINATOR = 1e9;
const MOST_FEE = 0.1;
const ONE_IN_BPS = 10_000;
/** Beyond it, programs round prices to fewer digits than bounds have. Binary orders of magnitude. */
const MOST_ORDERS = 36;
/** Prices of programs have 64 bits after the point, the last few of which their powers round. */
const PRICE_BITS = 56;

/** The fee comes from the state, without the part that follows volatility, the active bin from the pair's account. */
export const dlmmSpot: SpotBounds<DlmmMarket, DlmmState> = {
  reads: ({ market }) => [market.address],
  of({ market, pair }, [account]) {
    const { data } = account!;
    const id = numberI32(data, 76);
    if (arrayIndexOf(id) !== arrayIndexOf(pair.activeId)) return undefined;
    const orders = id * Math.log2(1 + market.binStep / ONE_IN_BPS);
    if (Math.abs(orders) > MOST_ORDERS) return undefined;
    const kept = 1 - Math.min(Number(pair.baseFee) / FEE_DENOMINATOR, MOST_FEE);
    return priceBound(2 ** orders, kept * (1 + 2 ** (Math.abs(orders) - PRICE_BITS)));
  },
  follows: {
    // The last is the bitmap of arrays with liquidity.
    fixed: [
      [0, 10],
      [34, 37],
      [80, 82],
      [584, 712],
    ],
    accounts: ({ address, mints }) => [bitmapExtensionOf(address).address, ...mints],
  },
};
