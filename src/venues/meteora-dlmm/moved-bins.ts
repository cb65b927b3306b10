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
  state: DlmmState,
  swap: SignedBinSwap,
  quoted: ReachedBins,
  { each, empty }: UnitsOfBins,
): number {
  const moved = Math.ceil(ticksMoved(swap) / state.market.binStep);
  if (moved === 0) return 0;
  const walk = new Walk(state, swap, moved);
  let most = 0;
  for (; walk.mayStart(); walk.startNext()) {
    walk.goOn();
    if (walk.reached > 0) most = Math.max(most, (walk.reached + 1) * each + walk.passed * empty);
  }
  return Math.max(0, Math.ceil(most - quoted.bins * each - quoted.empty * empty));
}

/** A swap as it is signed. Base units. */
interface SignedBinSwap extends Omit<SignedSwap, "zeroForOne"> {
  readonly xToY: boolean;
}

/** How much more a trade may give where prices have moved in its favour. */
const MOST_BETTER = 1.05;

/** A swap that begins in a bin that is nearly sold out: first at the edge of where prices move, then in the next bins. */
class Walk {
  readonly #from: number;
  readonly #moved: number;
  readonly #binStep: number;
  readonly #step: 1 | -1;
  readonly #exactIn: boolean;
  readonly #amount: number;
  readonly #bound: number;
  /** The most that it gives. */
  readonly #mostOutput: number;
  /** Bins with liquidity in its direction: what each gives once the price has come from the other side, and for how much a unit. */
  readonly #ids: number[] = [];
  readonly #outputs: number[] = [];
  readonly #prices: number[] = [];
  /** What the bins beyond where it begins give. */
  #beyond = 0;
  /** The bin in which it begins, and the one behind the last that it sells out. */
  #first = 0;
  #end = 0;
  /** What it trades from the first to the last. */
  #sold = 0;
  #cost = 0;

  constructor({ market, pair, down, up }: DlmmState, swap: SignedBinSwap, moved: number) {
    const { xToY, mode, inAmount, outAmount, threshold } = swap;
    this.#from = pair.activeId;
    this.#moved = moved;
    this.#binStep = market.binStep;
    this.#step = xToY ? -1 : 1;
    this.#exactIn = mode === "exactIn";
    this.#amount = Number(this.#exactIn ? inAmount : outAmount);
    this.#bound = Number(threshold);
    this.#mostOutput = Number(outAmount) * MOST_BETTER;
    const own = activeArray(pair);
    const behind = (xToY ? up : down).arrays;
    for (let at = behind.length - 1; at >= 0; at--) {
      const distance = Math.abs(behind[at]!.index - own);
      if (distance > 0 && (distance - 1) * BINS_PER_ARRAY < moved) this.#add(behind[at]!);
    }
    const ahead = (xToY ? down : up).arrays;
    for (let at = 0; at < ahead.length && this.#beyond <= this.#mostOutput; at++) this.#add(ahead[at]!);
    // The bin before where prices move may be left in part.
    if (this.#ids.length > 0 && this.#distanceOf(0) < -moved) this.startNext();
  }

  /** Bins that it sells out. */
  get reached(): number {
    return this.#end - this.#first;
  }

  /** Empty bins between them. */
  get passed(): number {
    return Math.abs(this.#ids[this.#end - 1]! - this.#ids[this.#first]!) + 1 - this.reached;
  }

  /** True if prices move as far as its first bin. */
  mayStart(): boolean {
    return this.#first < this.#ids.length && this.#distanceOf(this.#first) <= this.#moved;
  }

  /** Sells out further bins while the amount and the bound last. */
  goOn(): void {
    while (this.#end < this.#ids.length && this.#goesOnTo(this.#end)) {
      const output = this.#outputs[this.#end]!;
      this.#sold += output;
      this.#cost += output * this.#prices[this.#end]!;
      this.#end++;
    }
  }

  startNext(): void {
    const first = this.#first++;
    if (this.#end === first) {
      this.#end++;
      return;
    }
    const output = this.#outputs[first]!;
    this.#sold -= output;
    this.#cost -= output * this.#prices[first]!;
  }

  /** Of a bin from the active one, in the swap's direction. */
  #distanceOf(at: number): number {
    return (this.#ids[at]! - this.#from) * this.#step;
  }

  /** True if the rest, at the price of a bin, keeps the bound: some of it may go into what is left of the bin before the first one. */
  #goesOnTo(at: number): boolean {
    const left = this.#amount - (this.#exactIn ? this.#cost : this.#sold);
    if (left <= 0) return false;
    const price = this.#prices[at]!;
    const before = this.#first - 1;
    const best = before < 0 ? price : this.#prices[before]!;
    const held = before < 0 ? 0 : this.#outputs[before]! * (this.#exactIn ? best : 1);
    const part = Math.min(held, left);
    return this.#exactIn
      ? this.#sold + part / best + (left - part) / price >= this.#bound
      : this.#cost + part * best + (left - part) * price <= this.#bound;
  }

  /** Adds the bins of an array, from one before where prices move on, until those beyond give the most output. */
  #add({ index, view }: BinArray): void {
    const step = this.#step;
    const low = index * BINS_PER_ARRAY;
    const high = low + BINS_PER_ARRAY - 1;
    const begin = this.#from - (this.#moved + 1) * step;
    const first = step > 0 ? Math.max(low, begin) : Math.min(high, begin);
    const ratio = 1 + this.#binStep / 10_000;
    const withOrders = hasOrders(view);
    let price = ratio ** first;
    for (let id = first; id >= low && id <= high && this.#beyond <= this.#mostOutput; id += step) {
      const value = valueAt(view, id - low, price, withOrders);
      if (value > 0) {
        const output = step > 0 ? value / price : value;
        if ((id - this.#from) * step > this.#moved) this.#beyond += output;
        this.#ids.push(id);
        this.#outputs.push(output);
        this.#prices.push(step > 0 ? price : 1 / price);
      }
      price = step > 0 ? price * ratio : price / ratio;
    }
  }
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
