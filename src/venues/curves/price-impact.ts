/** Resolution of the ratio before it becomes a number. */
const PRECISION = 1_000_000_000_000n;

/**
 * How much worse a fill is than the price before it, fees excluded: 1 − (grossOut / netIn) / (midNumerator / midDenominator).
 * The mid price is base units of output per base unit of input. Display only: rounded to a double, clamped to 0…1.
 */
export function priceImpact(netIn: bigint, grossOut: bigint, midNumerator: bigint, midDenominator: bigint): number {
  const ideal = netIn * midNumerator;
  if (ideal === 0n) return 0;
  const kept = (grossOut * midDenominator * PRECISION) / ideal;
  if (kept <= 0n) return 1;
  return kept >= PRECISION ? 0 : Number(PRECISION - kept) / Number(PRECISION);
}
