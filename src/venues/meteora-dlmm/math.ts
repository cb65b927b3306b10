import { ceilDiv, minOf, U64_MAX } from "../../primitives/integer.ts";
import { Q64_ONE, q64Power } from "../curves/q64-power.ts";
import { addFee, takeFee, volatilityFee } from "../curves/scheduled-fee.ts";
import { arrayIndexOf, BINS_PER_ARRAY, type BinArray, hasOrders, ordersSellX, RECORD, recordAt } from "./bin-array.ts";
import type { DlmmPair } from "./layout.ts";

/** No trade pays more than 10 %. Parts per billion. */
export const FEE_CAP = 100_000_000n;
/** One bin of volatility. */
const BIN_VOLATILITY = 10_000;
const ONE_IN_BPS = 10_000;
const SCALE = 64n;

/** Bins in one direction of trade. */
export interface BinWalk {
  readonly pair: DlmmPair;
  readonly binStep: number;
  /** True: X goes in and bins are met downwards. */
  readonly xToY: boolean;
  /** Arrays with liquidity from the active bin on, nearest first. */
  readonly arrays: readonly BinArray[];
  /** Unix seconds. */
  readonly now: bigint;
  /** True: what is "uneven" is given, at the price of the builds that give it (since May 2026). Default false. */
  readonly givesUneven?: boolean;
}

/** Amounts on the pool's side of any token transfer fee. Base units. */
export interface DlmmFill {
  /** Input that reaches the pool, venue fees included. */
  readonly input: bigint;
  /** Output that leaves the pool. */
  readonly output: bigint;
  /** The part of the input that moves the price. */
  readonly netIn: bigint;
  /** Output of the bins before fees on output. */
  readonly grossOut: bigint;
  /** Bins with liquidity that the trade reaches. */
  readonly bins: number;
  /** Empty bins that it passes. */
  readonly empty: number;
  /** Bins where it reaches limit orders after market makers. */
  readonly mixed: number;
  /** The highest fee among the bins that it reaches. Parts per billion. */
  readonly highestFee: bigint;
  /** The bin in which it ends. */
  readonly endsIn: number;
  /** Number of the walk's arrays that the trade needs. */
  readonly arrays: number;
}

/**
 * Why there is no fill. "exhausted": the arrays end first, or a bin holds more than 64 bits of input buy, which the program refuses to sell
 * from. "uneven": the last bin would give from its market makers and
 * from its limit orders, and the program's rounding of the two together falls one unit short of the amount, which it refuses.
 */
export type DlmmRefusal = "exhausted" | "uneven";

/** The price of a bin, Y per X in Q64.64: (1 + binStep / 10 000)^id. */
export function binPrice(binId: number, binStep: number): bigint {
  return q64Power(Q64_ONE + (BigInt(binStep) << SCALE) / BigInt(ONE_IN_BPS), binId);
}

/**
 * Simulates the program for `input` arriving in the pool: bin after bin until it is used up.
 *
 * @see @meteora-ag/dlmm 1.9.14 `index.ts`, swapQuote
 */
export function dlmmExactIn(walk: BinWalk, input: bigint): DlmmFill | DlmmRefusal {
  return fillBins(walk, input, true);
}

/**
 * Input that the program charges for `output` leaving the pool: bins are drained one after another, and the last one in part.
 *
 * @see @meteora-ag/dlmm 1.9.14 `index.ts`, swapQuoteExactOut
 */
export function dlmmExactOut(walk: BinWalk, output: bigint): DlmmFill | DlmmRefusal {
  return fillBins(walk, output, false);
}

/** A bin as a trade finds it, and what the trade does there. Base units. */
export interface BinTrade {
  /** What market makers hold of the output, limit orders being filled, and those not begun. */
  readonly makers: bigint;
  readonly processed: bigint;
  readonly open: bigint;
  /** Input without fees, and output before fees on output. */
  readonly netIn: bigint;
  readonly grossOut: bigint;
  /** Input that buys an amount, rounded up. */
  costOf(out: bigint): bigint;
}

/** The same for either side, calling `visit` after each bin that the trade reaches. */
export function fillBins(
  walk: BinWalk,
  amount: bigint,
  exactIn: boolean,
  visit?: (array: BinArray, id: number, bin: BinTrade) => void,
): DlmmFill | DlmmRefusal {
  const { pair, binStep, xToY, arrays, givesUneven = false } = walk;
  const step = xToY ? -1 : 1;
  const feeOnInput = !pair.feesInY || !xToY;
  const volatility = createVolatility(pair, BigInt(binStep), walk.now);
  const bin = new BinCursor(xToY, pair.limitOrders);
  const total = { input: 0n, output: 0n, netIn: 0n, grossOut: 0n };
  let left = amount;
  let bins = 0;
  let empty = 0;
  let mixed = 0;
  let highestFee = 0n;
  let id = pair.activeId;
  for (let at = 0; at < arrays.length; at++) {
    const array = arrays[at]!;
    const { view } = array;
    const first = array.index * BINS_PER_ARRAY;
    const last = first + BINS_PER_ARRAY - 1;
    if (id < first || id > last) id = xToY ? last : first;
    for (; id >= first && id <= last; id += step) {
      if (!bin.moveTo(view, id - first)) {
        empty++;
        continue;
      }
      if (bin.price === 0n) bin.price = binPrice(id, binStep);
      bins++;
      const fee = volatility.feeAt(id);
      if (fee > highestFee) highestFee = fee;
      if (exactIn) {
        swapIn(bin, left, fee, feeOnInput);
        left -= bin.input;
        total.output += bin.output;
      } else {
        if (!swapOut(bin, left, fee, feeOnInput, givesUneven)) return "uneven";
        left -= bin.output;
        total.output += bin.output;
      }
      if (bin.overflows) return "exhausted";
      visit?.(array, id, bin);
      total.input += bin.input;
      total.netIn += bin.netIn;
      total.grossOut += bin.grossOut;
      if (bin.grossOut > bin.makers && bin.makers > 0n) mixed++;
      if (left === 0n) return { ...total, bins, empty, mixed, highestFee, endsIn: id, arrays: at + 1 };
    }
  }
  return "exhausted";
}

/** The bin under the cursor, and the result of trading with it. One object per walk: there are many bins. */
class BinCursor {
  price = 0n;
  /** The market makers' amount of what comes out. */
  makers = 0n;
  /** Limit orders of that side: those being filled, then those not begun. */
  processed = 0n;
  open = 0n;
  input = 0n;
  output = 0n;
  netIn = 0n;
  grossOut = 0n;
  /** True if what it sold from costs more, as a whole, than 64 bits hold. */
  overflows = false;
  readonly xToY: boolean;
  readonly #limitOrders: boolean;

  constructor(xToY: boolean, limitOrders: boolean) {
    this.xToY = xToY;
    this.#limitOrders = limitOrders;
  }

  /** Reads the bin at a place of its array; false if it holds none of the output token. */
  moveTo(view: DataView, place: number): boolean {
    const record = recordAt(view, place);
    if (record < 0) return false;
    this.makers = view.getBigUint64(record + (this.xToY ? RECORD.y : RECORD.x), true);
    if (this.#limitOrders && hasOrders(view) && ordersSellX(view, place) !== this.xToY) {
      this.processed = view.getBigUint64(record + RECORD.processed, true);
      this.open = view.getBigUint64(record + RECORD.open, true);
    } else {
      this.processed = 0n;
      this.open = 0n;
    }
    if (this.makers === 0n && this.processed === 0n && this.open === 0n) return false;
    this.price =
      view.getBigUint64(record + RECORD.price, true) | (view.getBigUint64(record + RECORD.price + 8, true) << 64n);
    return true;
  }

  /** Sells `held` for at most `offered`, adding to the output. @returns the rest of the offer */
  sell(offered: bigint, held: bigint): bigint {
    const room = this.costOf(held);
    if (room > U64_MAX) this.overflows = true;
    if (offered < room) {
      this.grossOut += this.xToY ? (offered * this.price) >> SCALE : (offered << SCALE) / this.price;
      return 0n;
    }
    this.grossOut += held;
    return offered - room;
  }

  /** Input that buys `out`, rounded up. */
  costOf(out: bigint): bigint {
    return this.xToY ? ceilDiv(out << SCALE, this.price) : ceilDiv(out * this.price, Q64_ONE);
  }

  /** The same with each part that gives some of it rounded up by itself. */
  costInParts(out: bigint): bigint {
    const fromMakers = minOf(out, this.makers);
    const fromProcessed = minOf(out - fromMakers, this.processed);
    return this.costOf(fromMakers) + this.costOf(fromProcessed) + this.costOf(out - fromMakers - fromProcessed);
  }
}

/** Trades up to `offered` into a bin, market makers first, then limit orders; the rest stays. */
function swapIn(bin: BinCursor, offered: bigint, fee: bigint, feeOnInput: boolean): void {
  const net = feeOnInput ? takeFee(offered, fee) : offered;
  bin.grossOut = 0n;
  let left = bin.sell(net, bin.makers);
  if (left > 0n) left = bin.sell(left, bin.processed);
  if (left > 0n) left = bin.sell(left, bin.open);
  bin.netIn = net - left;
  bin.input = left === 0n ? offered : feeOnInput ? addFee(bin.netIn, fee) : bin.netIn;
  bin.output = feeOnInput ? bin.grossOut : takeFee(bin.grossOut, fee);
}

/**
 * Buys up to `wanted` from a bin. Builds of March 2026 round the cost up once on the whole, while the bin then sells part by part, each
 * rounded up: if the parts add up to more, they fail. Builds since May round the cost up part by part, and give the amount.
 *
 * @returns false if builds of March would not give the amount
 */
function swapOut(bin: BinCursor, wanted: bigint, fee: bigint, feeOnInput: boolean, givesUneven: boolean): boolean {
  const gross = feeOnInput ? wanted : addFee(wanted, fee);
  if (gross >= bin.makers + bin.processed + bin.open) {
    swapIn(bin, U64_MAX, fee, feeOnInput);
    return true;
  }
  const cost = givesUneven ? bin.costInParts(gross) : bin.costOf(gross);
  swapIn(bin, feeOnInput ? addFee(cost, fee) : cost, fee, feeOnInput);
  if (bin.output < wanted) return false;
  bin.output = wanted;
  return true;
}

interface Volatility {
  /** The fee in a bin, in parts per billion. */
  feeAt(binId: number): bigint;
}

/** The fee, which grows with each bin crossed. Its references first decay with the time since the last trade. */
function createVolatility(pair: DlmmPair, binStep: bigint, now: bigint): Volatility {
  const { reference, center } = volatilityFrom(pair, now);
  let lastVolatility = -1;
  let fee = minOf(pair.baseFee, FEE_CAP);
  return {
    feeAt(binId) {
      if (pair.variableFeeControl === 0n) return fee;
      const volatility = volatilityAt(pair, reference, center, binId);
      if (volatility !== lastVolatility) {
        lastVolatility = volatility;
        fee = minOf(pair.baseFee + volatilityFee(BigInt(volatility), binStep, pair.variableFeeControl), FEE_CAP);
      }
      return fee;
    },
  };
}

/** The reference of volatility at `now` (Unix seconds): the remaining volatility, and the bin. */
function volatilityFrom(pair: DlmmPair, now: bigint): { readonly reference: number; readonly center: number } {
  const elapsed = Number(now - pair.lastUpdate);
  if (elapsed < pair.filterPeriod) return { reference: pair.volatilityReference, center: pair.indexReference };
  const rest = elapsed < pair.decayPeriod ? Math.floor((pair.volatility * pair.reductionFactor) / ONE_IN_BPS) : 0;
  return { reference: rest, center: pair.activeId };
}

function volatilityAt(pair: DlmmPair, reference: number, center: number, binId: number): number {
  return Math.min(reference + Math.abs(center - binId) * BIN_VOLATILITY, pair.maxVolatility);
}

/** The pair after a trade that ends in a bin. `now` in Unix seconds. */
export function dlmmPairAfter(pair: DlmmPair, activeId: number, now: bigint): DlmmPair {
  const { reference, center } = volatilityFrom(pair, now);
  return {
    ...pair,
    activeId,
    volatility: volatilityAt(pair, reference, center, activeId),
    volatilityReference: reference,
    indexReference: center,
    // A trade that stays in its bin leaves the time as it was.
    lastUpdate: activeId === pair.activeId ? pair.lastUpdate : now,
  };
}

/** Index of the array the active bin lies in. */
export const activeArray = (pair: DlmmPair): number => arrayIndexOf(pair.activeId);
