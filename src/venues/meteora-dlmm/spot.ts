import type { Account } from "../../solana/account.ts";
import { NOTHING, numberI32, numberU64, type SpotBounds, type SpotLine } from "../spot-bound.ts";
import {
  AMOUNT_X,
  AMOUNT_Y,
  arrayIndexOf,
  BIN_SIZE,
  BINS_PER_ARRAY,
  FIRST_BIN_OFFSET,
  OPEN_ORDERS,
  PROCESSED_ORDERS,
} from "./bin-array.ts";
import { bitmapExtensionOf, type DlmmMarket } from "./layout.ts";
import type { DlmmState } from "./state.ts";

/** Fees are parts per billion, at most 10 %. */
const FEE_DENOMINATOR = 1e9;
const MOST_FEE = 0.1;
const ONE_IN_BPS = 10_000;
/** Beyond it, programs round prices to fewer digits than bounds have. Binary orders of magnitude. */
const MOST_ORDERS = 36;
/** Program prices have 64 fractional bits; powers round the last few. */
const PRICE_BITS = 56;

/**
 * The fee comes from the state, without the part that follows volatility, the active bin from the pair's account, and what that bin
 * holds from its array's: beyond it, the next bin's price holds at most.
 */
export const dlmmSpot: SpotBounds<DlmmMarket, DlmmState> = {
  reads({ market: { address }, pair, down, up }) {
    const active = arrayIndexOf(pair.activeId);
    const array = down.arrays[0]?.index === active ? down.arrays[0] : up.arrays[0];
    return array?.index === active ? [address, array.address] : [address];
  },
  of({ market: { binStep }, pair }, [account, array]) {
    const id = numberI32(account!.data, 76);
    if (arrayIndexOf(id) !== arrayIndexOf(pair.activeId)) return undefined;
    const step = 1 + binStep / ONE_IN_BPS;
    const orders = id * Math.log2(step);
    if (Math.abs(orders) > MOST_ORDERS) return undefined;
    const price = 2 ** orders;
    if (!(price > 0)) return NOTHING;
    const wide = 1 + 2 ** (Math.abs(orders) - PRICE_BITS);
    const kept = 1 - Math.min(Number(pair.baseFee) / FEE_DENOMINATOR, MOST_FEE);
    const { x, y } = heldAt(array, id);
    return {
      from0: binLine(price * wide, y, { step, kept, isOnInput: !pair.feesInY }),
      from1: binLine(wide / price, x, { step, kept, isOnInput: true }),
      rounding: 0,
    };
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

/** What a bin holds at most, limit orders of either side included. Base units. */
function heldAt(array: Account | undefined, id: number): { readonly x: number; readonly y: number } {
  const at = FIRST_BIN_OFFSET + (id - arrayIndexOf(id) * BINS_PER_ARRAY) * BIN_SIZE;
  // Without an array, the bins that trades meet are others.
  if (array === undefined || array.data.length < at + BIN_SIZE) return { x: 0, y: 0 };
  const { data } = array;
  const orders = numberU64(data, at + OPEN_ORDERS) + numberU64(data, at + PROCESSED_ORDERS);
  return { x: numberU64(data, at + AMOUNT_X) + orders, y: numberU64(data, at + AMOUNT_Y) + orders };
}

interface BinTerms {
  readonly step: number;
  /** What the fee leaves. Fraction. */
  readonly kept: number;
  /** Whether it is taken from the input, rounded up. */
  readonly isOnInput: boolean;
}

/** @param held of what comes out */
function binLine(price: number, held: number, { step, kept, isOnInput }: BinTerms): SpotLine {
  const rate = isOnInput ? price : price * kept;
  return { rate, curb: 0, kept: isOnInput ? kept : 1, reach: held / price, after: rate / step };
}
