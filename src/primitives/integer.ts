/** The largest amount a token account can hold, in base units. */
export const U64_MAX = (1n << 64n) - 1n;

/** The largest unsigned 128-bit value. */
export const U128_MAX = (1n << 128n) - 1n;

/** `dividend / divisor` rounded up, for dividend ≥ 0 and divisor > 0. */
export function ceilDiv(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}

export function minOf(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

export function maxOf(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
