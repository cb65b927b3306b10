import { decodeOnceFor } from "../../solana/decode-once.ts";
import { type SignedSwap, ticksMoved } from "../curves/moved-crossings.ts";
import { BINS_PER_ARRAY, type BinArray, hasOrders, ordersSellX, RECORD, recordAt } from "./bin-array.ts";
import { activeArray } from "./math.ts";
import type { DlmmState } from "./state.ts";

/** The most bins that a trade reaches, with liquidity and without. */
interface ReachedBins {
  readonly bins: number;
  readonly empty: number;
}

/** Compute units of a bin with liquidity, and of one without. */
interface UnitsOfBins {
  readonly each: number;
  readonly empty: number;
}

/**
 * The most compute units that a swap takes for bins beyond those quoted, if the price first moves as far as its slippage lets it, or as
 * far the other way: the bins there may hold less. In doubles, without fees, over the known bins; the first one may be nearly sold out.
 */
export function movedBinUnits(
  { market, pair, down, up }: DlmmState,
  swap: Omit<SignedSwap, "zeroForOne"> & { readonly xToY: boolean },
  quoted: ReachedBins,
  units: UnitsOfBins,
): number {
  const moved = Math.ceil(ticksMoved(swap) / market.binStep);
  if (moved === 0) return 0;
  const { xToY } = swap;
  const [ahead, behind] = xToY ? [down, up] : [up, down];
  const own = activeArray(pair);
  const past = behind.arrays.filter(
    ({ index }) => index !== own && Math.abs(index - own) * BINS_PER_ARRAY < moved + BINS_PER_ARRAY,
  );
  const bins = new BinRow([...past.reverse(), ...ahead.arrays], market.binStep, xToY, {
    ...{ from: pair.activeId, moved, output: Number(swap.outAmount) * MOST_BETTER },
  });
  const exactIn = swap.mode === "exactIn";
  const amount = Number(exactIn ? swap.inAmount : swap.outAmount);
  const bound = Number(swap.threshold);
  /** True if it goes on to a bin, and the rest at that bin's price keeps the bound: some of it may go into what is left of the bin before. */
  const reaches = (at: number, first: number): boolean => {
    const left = amount - (exactIn ? cost : sold);
    if (left <= 0) return false;
    const price = bins.prices[at]!;
    const best = bins.prices[first - 1] ?? price;
    const held = (bins.outputs[first - 1] ?? 0) * (exactIn ? best : 1);
    const part = Math.min(held, left);
    return exactIn
      ? sold + part / best + (left - part) / price >= bound
      : cost + part * best + (left - part) * price <= bound;
  };
  let last = 0;
  let [sold, cost] = [0, 0];
  let worst = 0;
  for (let first = 0; first < bins.count; first++) {
    const distance = (bins.ids[first]! - pair.activeId) * (xToY ? -1 : 1);
    if (distance > moved) break;
    while (last < bins.count && reaches(last, first)) {
      sold += bins.outputs[last]!;
      cost += bins.outputs[last]! * bins.prices[last]!;
      last++;
    }
    if (distance >= -moved && last > first) {
      const reached = last - first;
      const passed = Math.abs(bins.ids[last - 1]! - bins.ids[first]!) + 1 - reached;
      worst = Math.max(worst, (reached + 1) * units.each + passed * units.empty);
    }
    if (last === first) {
      last++;
      continue;
    }
    sold -= bins.outputs[first]!;
    cost -= bins.outputs[first]! * bins.prices[first]!;
  }
  return Math.max(0, Math.ceil(worst - quoted.bins * units.each - quoted.empty * units.empty));
}

/** How much more a trade may give where prices have moved in its favour. */
const MOST_BETTER = 1.05;

interface Reach {
  readonly from: number;
  readonly moved: number;
  readonly output: number;
}

/** Bins with liquidity in the direction of a trade: what each gives once the price has come from the other side, and for how much a unit. */
class BinRow {
  readonly ids: number[] = [];
  readonly outputs: number[] = [];
  readonly prices: number[] = [];

  /** @param reach as far as prices move either way, and further on until bins beyond hold the output */
  constructor(arrays: readonly BinArray[], binStep: number, xToY: boolean, reach: Reach) {
    let held = 0;
    for (const array of arrays) {
      const { values, prices } = valuesOf(array, binStep);
      const first = array.index * BINS_PER_ARRAY;
      for (let step = 0; step < BINS_PER_ARRAY; step++) {
        const place = xToY ? BINS_PER_ARRAY - 1 - step : step;
        const value = values[place]!;
        const distance = (first + place - reach.from) * (xToY ? -1 : 1);
        if (value === 0 || distance < -reach.moved - 1) continue;
        if (held > reach.output) return;
        if (distance > reach.moved) held += xToY ? value : value / prices[place]!;
        this.ids.push(first + place);
        this.outputs.push(xToY ? value : value / prices[place]!);
        this.prices.push(xToY ? 1 / prices[place]! : prices[place]!);
      }
    }
  }

  get count(): number {
    return this.ids.length;
  }
}

/** What each bin of an array holds, in Y at its price, and its price: made once while the array stays the same. */
const valuesOf = decodeOnceFor(({ view, index }: BinArray, binStep: number) => {
  const values = new Float64Array(BINS_PER_ARRAY);
  const prices = new Float64Array(BINS_PER_ARRAY);
  const withOrders = hasOrders(view);
  for (let place = 0; place < BINS_PER_ARRAY; place++) {
    const price = (1 + binStep / 10_000) ** (index * BINS_PER_ARRAY + place);
    prices[place] = price;
    const record = recordAt(view, place);
    if (record < 0) continue;
    const amount = (offset: number): number => Number(view.getBigUint64(record + offset, true));
    const orders = withOrders ? amount(RECORD.open) + amount(RECORD.processed) : 0;
    values[place] = amount(RECORD.y) + amount(RECORD.x) * price + orders * (ordersSellX(view, place) ? price : 1);
  }
  return { values, prices };
});
