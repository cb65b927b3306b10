/**
 * The stable-swap curve of two coins: Ann·(x + y) + D = Ann·D + D³/(4·x·y), with Ann = 2·amplification. Amounts must be
 * brought to one precision first. Rounds as the programs that use it do: down in every step.
 *
 * @see @meteora-ag/dynamic-amm-sdk 1.4.1 `curve/stable-swap-math/calculator`, after curve.fi's simulation
 */
const COINS = 2n;
/** The programs' maximum number of approximation rounds; that many take more compute units than a transaction has. */
const MOST_ROUNDS = 256;
/** The programs divide numbers of this many bits at most, and refuse to trade where a larger one would be needed. */
const MOST_BITS = 192n;

/** A number found by Newton's method, and its rounds, on which a program's compute units depend. */
export interface Found {
  readonly value: bigint;
  readonly rounds: number;
}

/**
 * The invariant D of two reserves. 0 if either is empty. Of reserves far apart it may take dozens of rounds.
 * @returns undefined if the approximation never settles (of some reserves it swings between two values) or takes too large a number
 */
export function stableInvariant(amplification: bigint, x: bigint, y: bigint): Found | undefined {
  const ann = amplification * COINS;
  const sum = x + y;
  if (x === 0n || y === 0n) return { value: 0n, rounds: 0 };
  let previous = 0n;
  let d = sum;
  let rounds = 0;
  for (; isApart(d, previous); rounds++) {
    if (rounds === MOST_ROUNDS) return undefined;
    previous = d;
    const product = (((d * d) / (x * COINS)) * d) / (y * COINS);
    const dividend = d * (ann * sum + product * COINS);
    if (dividend >> MOST_BITS !== 0n) return undefined;
    d = dividend / (d * (ann - 1n) + product * (COINS + 1n));
  }
  return { value: d, rounds };
}

/** The other reserve at which the invariant `d` holds when one is `x`; undefined if the approximation never settles. */
export function stableReserve(amplification: bigint, x: bigint, d: bigint): Found | undefined {
  const ann = amplification * COINS;
  const linear = x + d / ann - d;
  const constant = (((d * d) / (x * COINS)) * d) / (ann * COINS);
  let previous = 0n;
  let y = d;
  let rounds = 0;
  for (; isApart(y, previous); rounds++) {
    if (rounds === MOST_ROUNDS) return undefined;
    previous = y;
    y = (y * y + constant) / (COINS * y + linear);
  }
  return { value: y, rounds };
}

/** Units of y per unit of x at the margin, as a fraction. `d` is the invariant of `x` and `y`. */
export function stablePrice(
  amplification: bigint,
  x: bigint,
  y: bigint,
  d: bigint,
): readonly [numerator: bigint, denominator: bigint] {
  const weight = 4n * amplification * COINS;
  const cube = d * d * d;
  return [(weight * x * x * y + cube) * y, (weight * x * y * y + cube) * x];
}

const isApart = (a: bigint, b: bigint): boolean => a - b > 1n || b - a > 1n;
