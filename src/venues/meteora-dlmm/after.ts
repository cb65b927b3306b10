import type { Address } from "../../primitives/address.ts";
import { minOf } from "../../primitives/integer.ts";
import type { ChainClock } from "../../solana/account.ts";
import { arriving, sending, transferFeeOf } from "../shared/transfer-sides.ts";
import type { Quote } from "../venue.ts";
import { arrayIndexOf, BINS_PER_ARRAY, type BinArray, copyOfArray, RECORD, recordAt } from "./bin-array.ts";
import { type BinTrade, type BinWalk, binPrice, dlmmPairAfter, fillBins } from "./math.ts";
import type { DlmmState, Side } from "./state.ts";

/**
 * The pair that a trade leaves: its active bin, what the bins hold that it traded with, and the volatility of its fee. Further
 * trades reach the arrays that were read and no others.
 *
 * @param givesUneven as in `BinWalk`
 * @returns undefined if the pair cannot make the trade
 */
export function tradedDlmm(
  state: DlmmState,
  made: Quote,
  clock: ChainClock,
  givesUneven = false,
): DlmmState | undefined {
  const { market, pair, mints, reserves } = state;
  const xToY = made.inMint === market.mints[0];
  const exactIn = made.mode === "exactIn";
  const amount = exactIn
    ? arriving(made.inAmount, transferFeeOf(mints[xToY ? 0 : 1], clock.epoch))
    : sending(made.outAmount, transferFeeOf(mints[xToY ? 1 : 0], clock.epoch));
  if (amount === undefined) return undefined;
  const now = clock.unixTimestamp;
  const { arrays } = xToY ? state.down : state.up;
  const walk: BinWalk = { pair, binStep: market.binStep, xToY, arrays, now, givesUneven };
  const copies = new Map<number, BinArray>();
  let reached = pair.activeId;
  const fill = fillBins(walk, amount, exactIn, (array, id, bin) => {
    reached = id;
    tradeBin(copyOf(array, copies), id, bin, xToY);
  });
  if (typeof fill === "string") return undefined;
  const [x, y] = xToY ? [fill.input, -fill.output] : [-fill.output, fill.input];
  return {
    ...state,
    pair: dlmmPairAfter(pair, reached, now),
    reserves: [reserves[0] + x, reserves[1] + y],
    activePrice: binPrice(reached, market.binStep),
    ...sidesFrom(state, arrayIndexOf(reached), copies),
  };
}

function copyOf(array: BinArray, copies: Map<number, BinArray>): BinArray {
  const known = copies.get(array.index);
  if (known !== undefined) return known;
  const copy = copyOfArray(array);
  copies.set(array.index, copy);
  return copy;
}

/** Market makers' proceeds go into the bin; limit orders' proceeds are set aside for their owners. */
function tradeBin({ index, view }: BinArray, id: number, bin: BinTrade, xToY: boolean): void {
  const at = recordAt(view, id - index * BINS_PER_ARRAY);
  const [given, taken] = xToY ? [RECORD.x, RECORD.y] : [RECORD.y, RECORD.x];
  const fromMakers = minOf(bin.grossOut, bin.makers);
  const toMakers = minOf(bin.netIn, bin.costOf(bin.makers));
  view.setBigUint64(at + taken, bin.makers - fromMakers, true);
  if (bin.makers > 0n) view.setBigUint64(at + given, view.getBigUint64(at + given, true) + toMakers, true);
  const fromOrders = bin.grossOut - fromMakers;
  if (fromOrders === 0n) return;
  const fromProcessed = minOf(fromOrders, bin.processed);
  const fromOpen = fromOrders - fromProcessed;
  // Orders not begun become the ones being filled once those are gone.
  view.setBigUint64(at + RECORD.processed, fromOpen > 0n ? bin.open - fromOpen : bin.processed - fromProcessed, true);
  view.setBigUint64(at + RECORD.open, fromOpen > 0n ? 0n : bin.open, true);
}

/** The arrays that were read, from the one of the active bin on in either direction. */
function sidesFrom(
  { down, up }: DlmmState,
  active: number,
  copies: ReadonlyMap<number, BinArray>,
): { readonly down: Side; readonly up: Side } {
  const all = new Map([...down.arrays, ...up.arrays].map((array) => [array.index, copies.get(array.index) ?? array]));
  const ascending = [...all.values()].sort((a, b) => a.index - b.index);
  return {
    down: sideOf(ascending.filter(({ index }) => index <= active).reverse()),
    up: sideOf(ascending.filter(({ index }) => index >= active)),
  };
}

const sideOf = (arrays: readonly BinArray[]): Side => ({
  arrays,
  addresses: arrays.map(({ address }) => address),
});

/** The pair as a swap sees it that names these arrays: the program goes from one to the next that holds liquidity. */
export function withArraysNamed(state: DlmmState, named: readonly Address[]): DlmmState {
  const side = ({ arrays }: Side): Side => {
    const missing = arrays.findIndex(({ address }) => !named.includes(address));
    return sideOf(missing < 0 ? arrays : arrays.slice(0, missing));
  };
  return { ...state, down: side(state.down), up: side(state.up) };
}
