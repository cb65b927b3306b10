import { type SignedSwap, ticksMoved } from "../curves/moved-crossings.ts";
import { BINS_PER_ARRAY, hasOrders, ordersSellX, RECORD, recordAt } from "./bin-array.ts";
import { activeArray } from "./math.ts";
import { ARRAYS_READ, type DlmmState } from "./state.ts";

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
  state: DlmmState,
  swap: SignedBinSwap,
  quoted: ReachedBins,
  { each, empty }: UnitsOfBins,
): number {
  const moved = Math.ceil(ticksMoved(swap) / state.market.binStep);
  if (moved === 0) return 0;
  const bins = listBins(state, swap, moved);
  const most = mostBinUnits(swap, bins, { each, empty });
  return Math.max(0, Math.ceil(most - quoted.bins * each - quoted.empty * empty));
}

/** A swap as it is signed. Base units. */
interface SignedBinSwap extends Omit<SignedSwap, "zeroForOne"> {
  readonly xToY: boolean;
}

/** How much more a trade may give where prices have moved in its favour. */
const MOST_BETTER = 1.05;

const MOST_BINS = 2 * ARRAYS_READ * BINS_PER_ARRAY;
/**
 * The bins with liquidity in a swap's direction, from one before where prices move on: what each gives once the price has come from the
 * other side, and for how much a unit. Used again by each call: a build would make kilobytes of them.
 */
const ids = new Int32Array(MOST_BINS);
const outputs = new Float64Array(MOST_BINS);
const prices = new Float64Array(MOST_BINS);

/** Which of the listed bins a swap may begin in. */
interface ListedBins {
  readonly first: number;
  readonly starts: number;
  readonly count: number;
}

/** Lists the bins as far as prices move either way, and further on until those beyond give the most output. */
function listBins(
  { market, pair, down, up }: DlmmState,
  { xToY, outAmount }: SignedBinSwap,
  moved: number,
): ListedBins {
  const from = pair.activeId;
  const own = activeArray(pair);
  const step = xToY ? -1 : 1;
  const ratio = 1 + market.binStep / 10_000;
  const mostOutput = Number(outAmount) * MOST_BETTER;
  const behind = (xToY ? up : down).arrays;
  const ahead = (xToY ? down : up).arrays;
  let [first, starts, count, beyond] = [0, 0, 0, 0];
  for (let at = -behind.length; at < ahead.length && beyond <= mostOutput; at++) {
    const { index, view } = at < 0 ? behind[-at - 1]! : ahead[at]!;
    const low = index * BINS_PER_ARRAY;
    const high = low + BINS_PER_ARRAY - 1;
    // The own array is ahead.
    if (at < 0 && index === own) continue;
    const begin = from - (moved + 1) * step;
    const withOrders = hasOrders(view);
    let id = step > 0 ? Math.max(low, begin) : Math.min(high, begin);
    let price = ratio ** id;
    for (; id >= low && id <= high && beyond <= mostOutput; id += step) {
      const value = valueAt(view, id - low, price, withOrders);
      if (value > 0) {
        const distance = (id - from) * step;
        const output = xToY ? value : value / price;
        ids[count] = id;
        outputs[count] = output;
        prices[count] = xToY ? 1 / price : price;
        count++;
        if (distance < -moved) first = count;
        if (distance <= moved) starts = count;
        else beyond += output;
      }
      price = step > 0 ? price * ratio : price / ratio;
    }
  }
  return { first, starts, count };
}

/**
 * The most units of a swap that begins in a bin that is nearly sold out and sells further ones out, while its amount and its bound last: first
 * in one at the edge of where prices move, then in the next ones.
 */
function mostBinUnits(
  { mode, inAmount, outAmount, threshold }: SignedBinSwap,
  { first, starts, count }: ListedBins,
  { each, empty }: UnitsOfBins,
): number {
  const exactIn = mode === "exactIn";
  const amount = Number(exactIn ? inAmount : outAmount);
  const bound = Number(threshold);
  let most = 0;
  let end = first;
  let [sold, cost] = [0, 0];
  for (let start = first; start < starts; start++) {
    // Some of it may go into what is left of the bin before the first one.
    const held = start === 0 ? 0 : outputs[start - 1]! * (exactIn ? prices[start - 1]! : 1);
    for (; end < count; end++) {
      const left = amount - (exactIn ? cost : sold);
      if (left <= 0) break;
      const price = prices[end]!;
      const best = start === 0 ? price : prices[start - 1]!;
      const part = Math.min(held, left);
      const keepsBound = exactIn
        ? sold + part / best + (left - part) / price >= bound
        : cost + part * best + (left - part) * price <= bound;
      if (!keepsBound) break;
      sold += outputs[end]!;
      cost += outputs[end]! * price;
    }
    const reached = end - start;
    if (reached === 0) {
      end++;
      continue;
    }
    const passed = Math.abs(ids[end - 1]! - ids[start]!) + 1 - reached;
    most = Math.max(most, (reached + 1) * each + passed * empty);
    sold -= outputs[start]!;
    cost -= outputs[start]! * prices[start]!;
  }
  return most;
}

/** What a bin holds, in Y at its price. */
function valueAt(view: DataView, place: number, price: number, withOrders: boolean): number {
  const record = recordAt(view, place);
  if (record < 0) return 0;
  const makers = amountAt(view, record + RECORD.y) + amountAt(view, record + RECORD.x) * price;
  if (!withOrders) return makers;
  const orders = amountAt(view, record + RECORD.open) + amountAt(view, record + RECORD.processed);
  return makers + orders * (ordersSellX(view, place) ? price : 1);
}

/** A number of 64 bits as a double: there are many, and a bigint of each would be an object. */
const amountAt = (view: DataView, at: number): number =>
  view.getUint32(at + 4, true) * 2 ** 32 + view.getUint32(at, true);
