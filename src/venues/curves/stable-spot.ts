/** One reserve may be this many times the other: beyond that, programs' roundings are a larger part of a price than bounds allow for. */
const MOST_APART = 1_000;
/** Rounds within which the approximation always converges for such reserves, and what a further round may still change. Fraction. */
const ROUNDS = 16;
const EXACT = 1e-12;

/**
 * Units of y per unit of x at the margin of the stable-swap curve, as `stablePrice`, in doubles.
 *
 * @returns undefined if one is not known well enough
 */
export function stableSpot(amplification: number, x: number, y: number): number | undefined {
  if (!(x > 0 && y > 0) || x > y * MOST_APART || y > x * MOST_APART) return undefined;
  const d = invariant(2 * amplification, x, y);
  if (d === undefined) return undefined;
  const weight = 8 * amplification;
  const cube = d * d * d;
  return ((weight * x * x * y + cube) * y) / ((weight * x * y * y + cube) * x);
}

function invariant(ann: number, x: number, y: number): number | undefined {
  const sum = x + y;
  let d = sum;
  for (let round = 0; round < ROUNDS; round++) {
    const product = (d * d * d) / (4 * x * y);
    const next = (d * (ann * sum + product * 2)) / (d * (ann - 1) + product * 3);
    if (!(next > 0)) return undefined;
    if (Math.abs(next - d) <= d * EXACT) return next;
    d = next;
  }
  return undefined;
}
