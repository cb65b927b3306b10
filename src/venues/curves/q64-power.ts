import { U128_MAX } from "../../primitives/integer.ts";

/** One, as 64 whole bits and 64 fraction bits. */
export const Q64_ONE = 1n << 64n;

/** Exponents of this size and above are refused by the programs. */
const EXPONENT_LIMIT = 0x80000;

/**
 * `base` to the power of `exponent` in Q64.64, rounded down after each multiplication, by squaring over 19 bits.
 * Bases of one and above are inverted first and the result inverted back, so that nothing overflows 128 bits. The rounding
 * follows from that and equals the programs'.
 *
 * @returns 0 if the result is too small to represent, the exponent too large, or the base below zero
 * @see Meteora `dlmm-sdk` 1.9.14 `helpers/u64xu64_math.ts`, function `pow`
 */
export function q64Power(base: bigint, exponent: number): bigint {
  if (exponent === 0) return Q64_ONE;
  let bits = Math.abs(exponent);
  // Programs have no bases below zero; squares of one would grow beyond all bounds.
  if (bits >= EXPONENT_LIMIT || base < 0n) return 0n;
  const inverted = base >= Q64_ONE;
  let square = inverted ? U128_MAX / base : base;
  let result = Q64_ONE;
  for (; bits > 0; bits >>>= 1) {
    if ((bits & 1) === 1) result = (result * square) >> 64n;
    square = (square * square) >> 64n;
  }
  if (result === 0n) return 0n;
  return inverted !== exponent < 0 ? U128_MAX / result : result;
}
