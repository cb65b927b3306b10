import type { Address } from "../primitives/address.ts";
import type { Account, AccountView } from "../solana/account.ts";

/**
 * The most that trades on a market give: `rate · x / (1 + curb · x)` for an input of x, before transfer fees. The rate is that of the
 * smallest trade, which no larger one beats; the curb is 0 where it is not known how much worse they are.
 */
export interface SpotBound {
  /** Of the first mint for the second: output for a unit of input, in base units. */
  readonly rate0: number;
  /** By how much a unit of input worsens the rate. Fraction. */
  readonly curb0: number;
  /** Of the second mint for the first. */
  readonly rate1: number;
  readonly curb1: number;
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
  /** True if an exact input may be spent but for a unit. */
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

/** A market that refuses every trade. */
export const NOTHING: SpotBound = { rate0: 0, curb0: 0, rate1: 0, curb1: 0, rounding: 0 };

/** The most that an input gives. Base units. */
export function mostOut(rate: number, curb: number, rounding: number, amount: number): number {
  return ((rate * (amount + rounding)) / (1 + curb * amount)) * (1 + SLACK) + rounding;
}

/** The least input that gives an output. Base units; Infinity if none does. */
export function leastIn(rate: number, curb: number, rounding: number, amount: number): number {
  const wanted = (amount - rounding) / (1 + SLACK);
  if (wanted <= 0) return 0;
  const left = rate - wanted * curb;
  return left <= 0 ? Number.POSITIVE_INFINITY : wanted / left - rounding;
}

/** The bound of a curve x · y = k, by its reserves and the part of a trade that fees leave: of its input, and of its output. */
export function productBound(reserve0: number, reserve1: number, kept: ProductFees): SpotBound {
  if (!(reserve0 > 0 && reserve1 > 0)) return NOTHING;
  const [curb0, curb1] = [kept.in0 / reserve0, kept.in1 / reserve1];
  return { rate0: curb0 * reserve1 * kept.out0, curb0, rate1: curb1 * reserve0 * kept.out1, curb1, rounding: 0 };
}

/** Parts that fees leave: of the input and of the output, for the first mint going in and for the second. Fractions. */
export interface ProductFees {
  readonly in0: number;
  readonly out0: number;
  readonly in1: number;
  readonly out1: number;
}

/** The bound of a price of the second mint per first, by the part of a trade that fees leave. */
export function priceBound(price: number, kept: number): SpotBound {
  if (!(price > 0 && price < Number.POSITIVE_INFINITY)) return NOTHING;
  return { rate0: price * kept, curb0: 0, rate1: kept / price, curb1: 0, rounding: 0 };
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
