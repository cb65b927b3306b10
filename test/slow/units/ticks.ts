import type { Genes } from "./genes.ts";

/** A tick whose price takes few or many multiplications, on either side of 1. */
export function drawTick(genes: Genes): number {
  const tick =
    genes.pick([0, 2_047, 32_767, 65_535, 131_071, 262_143, 393_215, 12_345, genes.between(0, 400_000)]) +
    genes.between(-12, 4);
  return genes.chance(0.5) ? tick : -tick;
}

/** Adds positions around a tick: wide ones, and many that end near it. */
export function spreadPositions(
  genes: Genes,
  tick: number,
  spacing: number,
  highest: number,
  add: (low: number, high: number, liquidity: bigint) => void,
): void {
  const base = Math.floor(tick / spacing) * spacing;
  const at = (steps: number) => Math.max(-highest, Math.min(highest, base + steps * spacing));
  const unit = genes.magnitude(1n << genes.pick([44n, 58n])) + 10n;
  const isWide = genes.chance(0.6);
  if (isWide) add(-highest, highest, unit * 10n);
  else add(at(-200), at(200), unit * 10n);
  const every = genes.pick([1, 2, 5, 29, 87]);
  const count = genes.pick([0, 3, 12, 25]);
  for (let step = -count; step < count; step++) {
    if (genes.chance(0.2)) continue;
    if (at(step * every) < at((step + 1) * every))
      add(at(step * every), at((step + 1) * every), unit * BigInt(genes.between(1, 12)));
  }
}
