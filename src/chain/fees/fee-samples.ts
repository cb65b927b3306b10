import { PRIORITY_LEVELS, type Priority } from "../port.ts";

/** Share of recent slots, in percent, in which the level's price would have been enough. */
export const PERCENTILE: Readonly<Record<Priority, number>> = { economy: 25, fast: 50, faster: 75, fastest: 95 };

/** Micro-lamports per compute unit of each level. */
export type Prices = Readonly<Record<Priority, bigint>>;

export const NO_PRICES: Prices = { economy: 0n, fast: 0n, faster: 0n, fastest: 0n };

/** Share of slots, in percent, whose prices are left out as outliers, the dearest first. */
export type Trims = Readonly<Record<Priority, number>>;

const NO_TRIMS: Trims = { economy: 0, fast: 0, faster: 0, fastest: 0 };

/** What was paid in each of the recent slots. */
export type Samples = readonly bigint[];

/** The nearest-rank percentile of each level over the samples that are left without the outliers; nothing for no samples. */
export function pricesOf(samples: Samples, trims: Trims = NO_TRIMS): Prices {
  if (samples.length === 0) return NO_PRICES;
  const sorted = sortedUp(samples);
  const prices: Record<Priority, bigint> = { ...NO_PRICES };
  for (const level of PRIORITY_LEVELS) {
    const kept = Math.max(1, sorted.length - Math.floor((trims[level] / 100) * sorted.length));
    prices[level] = sorted[Math.ceil((PERCENTILE[level] / 100) * kept) - 1]!;
  }
  return prices;
}

/** The one in the middle of the samples that are left without the outliers; of an even number the lower. */
export function middlePrice(samples: Samples, trimPercent: number): bigint {
  if (samples.length === 0) return 0n;
  const sorted = sortedUp(samples);
  const kept = Math.max(1, sorted.length - Math.floor((trimPercent / 100) * sorted.length));
  return sorted[Math.ceil(kept / 2) - 1]!;
}

/** Slots until one comes in which the price is enough, as the recent ones went; no more than there are samples. At least 1. */
export function expectedSlots(samples: Samples, price: bigint): number {
  if (samples.length === 0) return 1;
  const enough = samples.reduce((count, sample) => (sample <= price ? count + 1 : count), 0);
  return enough === 0 ? samples.length : samples.length / enough;
}

function sortedUp(samples: Samples): bigint[] {
  return samples.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}
