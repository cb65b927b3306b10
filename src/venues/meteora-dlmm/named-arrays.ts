import type { Address } from "../../primitives/address.ts";
import { LEAN_MARGIN_BPS } from "../venue.ts";
import { BINS_PER_ARRAY, type BinArray } from "./bin-array.ts";
import { activeArray } from "./math.ts";
import { ARRAYS_PER_TRADE, type DlmmState, SPARE_ARRAYS } from "./state.ts";

/** The array behind a price is named if the price is this near to it. */
const BEHIND_MARGIN_BPS = 500;

/** The bin arrays that a swap names: the program passes over those it does not need, and does not come back to one. */
interface NamedArrays {
  /** The nearest one against its direction, if there is room: the price may first move there, in the swap's favour. Named first. */
  readonly behind: Address | undefined;
  /** Those it reaches, in order, and one more. */
  readonly ahead: readonly Address[];
}

/** @param used how many arrays the swap reaches */
export function arraysToName(state: DlmmState, xToY: boolean, used: number): NamedArrays {
  const { addresses } = xToY ? state.down : state.up;
  const { market, pair } = state;
  const behind = used < ARRAYS_PER_TRADE ? arrayBehind(state, xToY) : undefined;
  const isNear = behind !== undefined && binsTo(behind, pair.activeId, xToY) * market.binStep <= BEHIND_MARGIN_BPS;
  return { behind: isNear ? behind.address : undefined, ahead: addresses.slice(0, used + SPARE_ARRAYS) };
}

/** What of a swap decides which of its spare arrays the price comes near to. */
interface NamingSwap {
  readonly used: number;
  readonly endsIn: number;
  readonly binArrays: readonly Address[];
}

/** The named arrays without those to which the price would have to move by more than `LEAN_MARGIN_BPS` first. */
export function withoutFarArrays(
  state: DlmmState,
  xToY: boolean,
  { used, endsIn, binArrays }: NamingSwap,
): readonly Address[] {
  const { arrays } = xToY ? state.down : state.up;
  const { market, pair } = state;
  const isFar = (bins: number) => bins * market.binStep > LEAN_MARGIN_BPS;
  const last = arrays[used - 1];
  const ahead = arrays[used];
  const behind = arrayBehind(state, xToY);
  const spare = new Set<Address>();
  if (last !== undefined && ahead !== undefined && isFar(binsTo(last, endsIn, xToY))) spare.add(ahead.address);
  if (behind !== undefined && isFar(binsTo(behind, pair.activeId, xToY))) spare.add(behind.address);
  return binArrays.filter((address) => !spare.has(address));
}

/** The nearest array with liquidity against the direction of a swap. */
function arrayBehind({ pair, down, up }: DlmmState, xToY: boolean): BinArray | undefined {
  const own = activeArray(pair);
  const { arrays } = xToY ? up : down;
  return arrays[0]?.index === own ? arrays[1] : arrays[0];
}

/** Bins between one and the end of an array in a swap's direction, which for an array behind is the end that is nearer. */
function binsTo({ index }: BinArray, id: number, xToY: boolean): number {
  const low = index * BINS_PER_ARRAY;
  return Math.abs(id - (xToY ? low : low + BINS_PER_ARRAY - 1));
}
