import type { Address } from "../primitives/address.ts";
import type { Account, AccountView } from "../solana/account.ts";

/**
 * The most that an input gives, before transfer fees. `kept` of it reaches the curve; x units there give `rate · x / (1 + curb ·
 * x)` up to `reach`, and `after` for each further unit. The rate is that of the smallest trade, which no larger one beats.
 */
export interface SpotLine {
  /** Output for a unit on the curve, in base units. */
  readonly rate: number;
  /** By how much a unit worsens the rate; 0 if unknown. Fraction. */
  readonly curb: number;
  /**
   * The part of an input that reaches the curve after a fee that is rounded up to whole units; 1 if the rate includes the fee.
   * Fraction.
   */
  readonly kept: number;
  /** Units on the curve up to which the rate and the curb hold. */
  readonly reach: number;
  /** Output for each unit beyond. */
  readonly after: number;
}

/** The most that trades on a market give. */
export interface SpotBound {
  /** Of the first mint for the second. */
  readonly from0: SpotLine;
  /** Of the second mint for the first. */
  readonly from1: SpotLine;
  /** What the program's rounding may gain on either side. Base units. */
  readonly rounding: number;
}

/** How a venue bounds its trades by the price at which they begin. */
export interface SpotBounds<M, State> {
  /** The accounts that the bound of a state is made of, the market's own first. */
  reads(state: State): readonly Address[];
  /**
   * A bound that holds at every moment from now on while the accounts stay as they are: fees count as low as they may become.
   *
   * @param state of the market. What `follows` and `Venue.decoded` name is taken from it, all else from the accounts: it may be of
   * earlier ones
   * @param accounts that `reads` names, in its order
   * @returns undefined if there is none, or if `needs` may name other accounts than for `state`
   */
  of(state: State, accounts: readonly Account[]): SpotBound | undefined;
  /** True if a unit of an exact input may stay unspent. */
  readonly takesLess?: boolean;
  /** Absent: everything is taken from the state. */
  readonly follows?: {
    /** Bytes of the market's own account that are, besides those that `Venue.decoded` names. */
    readonly fixed: readonly (readonly [first: number, end: number])[];
    /** Other accounts that are. */
    accounts(market: M): readonly Address[];
  };
}

/** The bound of a state with the accounts it was read from; undefined if there is none. */
export function spotBoundOf<State>(
  { spot }: { readonly spot?: SpotBounds<never, State> },
  state: State,
  have: AccountView,
): SpotBound | undefined {
  if (spot === undefined) return undefined;
  const accounts: Account[] = [];
  for (const address of spot.reads(state)) {
    const account = have.get(address);
    if (account === undefined || account === null) return undefined;
    accounts.push(account);
  }
  return spot.of(state, accounts);
}

/** What doubles may be off by: bounds are made in some ten steps. Fraction. */
const SLACK = 1e-12;

/** Numbers of a line in a table, with the bound's rounding. */
export const LINE_SIZE = 6;

/**
 * Writes a line into a table from a place on: bounds of many markets lie side by side.
 *
 * @param line undefined, or one of numbers that bound nothing, is written as a rate of infinity
 */
export function writeLine(table: Float64Array, at: number, line: SpotLine | undefined, rounding: number): void {
  const { rate, curb, kept, reach, after } = line !== undefined && isBound(line) ? line : UNKNOWN;
  table[at] = rate;
  table[at + 1] = curb;
  table[at + 2] = kept;
  table[at + 3] = reach;
  table[at + 4] = after;
  table[at + 5] = rate === Number.POSITIVE_INFINITY ? 0 : rounding;
}

/** Output for a unit of an input, at most, by the line at a place of a table. Infinity if unknown. */
export function mostRate(table: Float64Array, at: number): number {
  return table[at]! * table[at + 2]!;
}

/** Comparisons with NaN are all false. */
function isBound({ rate, curb, kept, reach, after }: SpotLine): boolean {
  return isMeasure(rate) && isMeasure(curb) && kept >= 0 && kept <= 1 && reach >= 0 && isMeasure(after);
}

const isMeasure = (value: number) => value >= 0 && value < Number.POSITIVE_INFINITY;

/** The most that an input gives by the line at a place of a table. Whole base units. */
export function mostOut(table: Float64Array, at: number, amount: number): number {
  const rate = table[at]!;
  const curb = table[at + 1]!;
  const reach = table[at + 3]!;
  const rounding = table[at + 5]!;
  const moved = Math.floor(table[at + 2]! * amount * (1 + SLACK));
  const most =
    moved <= reach
      ? (rate * (moved + rounding)) / (1 + curb * moved)
      : (rate * (reach + rounding)) / (1 + curb * reach) + table[at + 4]! * (moved - reach);
  return Math.floor(most * (1 + SLACK) + rounding);
}

/** The least input that gives an output by the line at a place of a table. Base units; Infinity if none does. */
export function leastIn(table: Float64Array, at: number, amount: number): number {
  const rate = table[at]!;
  const curb = table[at + 1]!;
  const reach = table[at + 3]!;
  const rounding = table[at + 5]!;
  const wanted = (amount - rounding) / (1 + SLACK);
  if (wanted <= 0) return 0;
  const left = rate - wanted * curb;
  let moved = left <= 0 ? Number.POSITIVE_INFINITY : wanted / left;
  if (moved > reach) moved = reach + (wanted - (rate * reach) / (1 + curb * reach)) / table[at + 4]!;
  return moved / table[at + 2]! / (1 + SLACK) - rounding;
}

/** A line that holds for trades of every size, with fees counted in the rate. */
export function wholeLine(rate: number, curb: number): SpotLine {
  return { rate, curb, kept: 1, reach: Number.POSITIVE_INFINITY, after: 0 };
}

const NO_LINE = wholeLine(0, 0);
const UNKNOWN = wholeLine(Number.POSITIVE_INFINITY, 0);

/** A market that refuses every trade. */
export const NOTHING: SpotBound = { from0: NO_LINE, from1: NO_LINE, rounding: 0 };

/** The bound of a curve x · y = k, by its reserves and the part of a trade that fees leave: of its input, and of its output. */
export function productBound(reserve0: number, reserve1: number, kept: ProductFees): SpotBound {
  if (!(reserve0 > 0 && reserve1 > 0)) return NOTHING;
  return {
    from0: productLine(reserve0, reserve1 * kept.out0, kept.in0, kept.roundsUp),
    from1: productLine(reserve1, reserve0 * kept.out1, kept.in1, kept.roundsUp),
    rounding: 0,
  };
}

function productLine(reserveIn: number, reserveOut: number, kept: number, roundsUp = false): SpotLine {
  const counted = roundsUp ? 1 : kept;
  const line = wholeLine((counted / reserveIn) * reserveOut, counted / reserveIn);
  return roundsUp ? { ...line, kept } : line;
}

/** Parts that fees leave: of the input and of the output, for the first mint going in and for the second. Fractions. */
export interface ProductFees {
  readonly in0: number;
  readonly out0: number;
  readonly in1: number;
  readonly out1: number;
  /** True if fees on inputs are rounded up, so that whole units reach the curve. */
  readonly roundsUp?: boolean;
}

/** The bound of a price of the second mint per first, by the part of a trade that fees leave. */
export function priceBound(price: number, kept: number): SpotBound {
  if (!(price > 0 && price < Number.POSITIVE_INFINITY)) return NOTHING;
  return { from0: wholeLine(price * kept, 0), from1: wholeLine(kept / price, 0), rounding: 0 };
}

const TWO_32 = 2 ** 32;
const TWO_64 = 2 ** 64;

/** The same as `readU64`, as a double. */
export function numberU64(data: Uint8Array, at: number): number {
  return u32(data, at) + u32(data, at + 4) * TWO_32;
}

/** An unsigned 128-bit integer as a double. */
export function numberU128(data: Uint8Array, at: number): number {
  return numberU64(data, at) + numberU64(data, at + 8) * TWO_64;
}

/** A square-root price in Q64.64 as a double. */
export function numberQ64(data: Uint8Array, at: number): number {
  return numberU64(data, at) / TWO_64 + numberU64(data, at + 8);
}

/** A signed 32-bit integer. */
export function numberI32(data: Uint8Array, at: number): number {
  return u32(data, at) | 0;
}

function u32(data: Uint8Array, at: number): number {
  return (data[at]! | (data[at + 1]! << 8) | (data[at + 2]! << 16) | (data[at + 3]! << 24)) >>> 0;
}

const TOKEN_AMOUNT_OFFSET = 64;

/** What a vault holds, in base units. 0 if it is none. */
export function vaultAmount({ data }: Account): number {
  return data.length < TOKEN_AMOUNT_OFFSET + 8 ? 0 : numberU64(data, TOKEN_AMOUNT_OFFSET);
}
