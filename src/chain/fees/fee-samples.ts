import { compareIntegers } from "../../primitives/integer.ts";
import { PRIORITY_LEVELS, type Priority } from "../port.ts";

/** Share of recent slots, in percent, in which the level's price would have been enough. */
export const PERCENTILE: Readonly<Record<Priority, number>> = { economy: 25, fast: 50, faster: 75, fastest: 95 };

/** Micro-lamports per compute unit of each level. */
export type Prices = Readonly<Record<Priority, bigint>>;

export const NO_PRICES: Prices = { economy: 0n, fast: 0n, faster: 0n, fastest: 0n };

/** Share of samples, in percent, ignored as outliers, most expensive first. */
export type Trims = Readonly<Record<Priority, number>>;

const NO_TRIMS: Trims = { economy: 0, fast: 0, faster: 0, fastest: 0 };

/** Prices paid in recent slots. Micro-lamports per compute unit. */
export type Samples = readonly bigint[];

/** The nearest-rank percentile of each level over the samples without outliers; zero without samples. */
export function pricesOf(samples: Samples, trims: Trims = NO_TRIMS): Prices {
  if (samples.length === 0) return NO_PRICES;
  const sorted = ascending(samples);
  const prices: Record<Priority, bigint> = { ...NO_PRICES };
  for (const level of PRIORITY_LEVELS) {
    const kept = keptOf(sorted, trims[level]);
    prices[level] = sorted[Math.ceil((PERCENTILE[level] / 100) * kept) - 1]!;
  }
  return prices;
}

/** The median of the samples without outliers; of an even number the lower one. */
export function medianPrice(samples: Samples, trimPercent: number): bigint {
  if (samples.length === 0) return 0n;
  const sorted = ascending(samples);
  return sorted[Math.ceil(keptOf(sorted, trimPercent) / 2) - 1]!;
}

/** Slots until one in which the price is enough, judged by recent ones; from 1 up to the number of samples. */
export function expectedSlots(samples: Samples, price: bigint): number {
  if (samples.length === 0) return 1;
  const enough = samples.reduce((count, sample) => (sample <= price ? count + 1 : count), 0);
  return enough === 0 ? samples.length : samples.length / enough;
}

/** Number of samples left without outliers. */
function keptOf(samples: Samples, trimPercent: number): number {
  return Math.max(1, samples.length - Math.floor((trimPercent / 100) * samples.length));
}

function ascending(samples: Samples): bigint[] {
  return samples.toSorted(compareIntegers);
}
