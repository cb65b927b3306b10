import { ceilDiv } from "../../primitives/integer.ts";

/**
 * One stretch of constant liquidity between two square-root prices, as Meteora's DAMM v2 and DBC hold it: square-root
 * prices of B per A in Q64.64, liquidity scaled by 2^64. What leaves the pool is rounded down, what enters it up.
 *
 * @see @meteora-ag/cp-amm-sdk 1.5.0 `math/liquidity/concentratedLiquidity.ts`
 */
const SCALE_BITS = 128n;

/** Amount of A between two prices: L·(upper − lower)/(lower·upper), rounded down. */
export function amountAOut(lower: bigint, upper: bigint, liquidity: bigint): bigint {
  return (liquidity * (upper - lower)) / (lower * upper);
}

/** Amount of A between two prices, rounded up. */
export function amountAIn(lower: bigint, upper: bigint, liquidity: bigint): bigint {
  return ceilDiv(liquidity * (upper - lower), lower * upper);
}

/** Amount of B between two prices: L·(upper − lower)/2^128, rounded down. */
export function amountBOut(lower: bigint, upper: bigint, liquidity: bigint): bigint {
  return (liquidity * (upper - lower)) >> SCALE_BITS;
}

/** Amount of B between two prices, rounded up. */
export function amountBIn(lower: bigint, upper: bigint, liquidity: bigint): bigint {
  return ceilDiv(liquidity * (upper - lower), 1n << SCALE_BITS);
}

/** The price after `amount` of A went in: falls, rounded up. */
export function priceAfterAIn(price: bigint, liquidity: bigint, amount: bigint): bigint {
  return ceilDiv(liquidity * price, liquidity + amount * price);
}

/** The price after `amount` of B went in: rises, rounded down. */
export function priceAfterBIn(price: bigint, liquidity: bigint, amount: bigint): bigint {
  return price + (amount << SCALE_BITS) / liquidity;
}

/** The price after `amount` of A came out: rises, rounded up. Undefined if there is no such price. */
export function priceAfterAOut(price: bigint, liquidity: bigint, amount: bigint): bigint | undefined {
  const rest = liquidity - amount * price;
  return rest > 0n ? ceilDiv(liquidity * price, rest) : undefined;
}

/** The price after `amount` of B came out: falls, rounded down. Undefined if there is no such price. */
export function priceAfterBOut(price: bigint, liquidity: bigint, amount: bigint): bigint | undefined {
  const fall = ceilDiv(amount << SCALE_BITS, liquidity);
  return fall < price ? price - fall : undefined;
}
