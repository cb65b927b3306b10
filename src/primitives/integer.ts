/** The largest amount a token account can hold, in base units. */
export const U64_MAX = (1n << 64n) - 1n;

/** The largest unsigned 128-bit value. */
export const U128_MAX = (1n << 128n) - 1n;

/** `dividend / divisor` rounded up, for dividend ≥ 0 and divisor > 0. */
export function ceilDiv(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}

/** The largest integer whose square is at most `value`, for value ≥ 0. */
export function squareRoot(value: bigint): bigint {
  if (value < 2n) return value;
  let root = 1n << BigInt((value.toString(2).length + 1) >> 1);
  for (let next = (root + value / root) >> 1n; next < root; next = (root + value / root) >> 1n) root = next;
  return root;
}

/** The smaller of two. */
export function minOf(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** The larger of two. */
export function maxOf(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/** Orders integers from the smallest on, for sorting. */
export function compareIntegers(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The value whose integer is the median of all; of an even number of values the lower of the two. @param values one or more */
export function medianBy<T>(values: readonly T[], integerOf: (value: T) => bigint): T {
  return values.toSorted((a, b) => compareIntegers(integerOf(a), integerOf(b)))[(values.length - 1) >> 1]!;
}
