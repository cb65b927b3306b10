/** How far a price has moved over a span of time, as observed. */
export interface PriceMovement {
  /** Moments from which a whole span has been observed. They overlap. */
  readonly samples: number;
  /** Time from the first of these to the last. Milliseconds. */
  readonly windowMs: number;
  readonly spanMs: number;
  /** Share of the samples that `movement` covers. */
  readonly quantile: number;
  /** What the price lost at most within the span after each of these samples. Fraction; undefined with too few samples. */
  readonly movement: number | undefined;
}

/** Prices kept per series, and the time between two of them. Milliseconds. */
export const MOST_PRICES = 360;
export const PRICE_EVERY_MS = 5_000;
/** A longer pause between two prices hides what happened between them. Milliseconds. */
const LONGEST_GAP_MS = 3 * PRICE_EVERY_MS;
const QUANTILE = 0.95;
/** Fewer samples cannot show a quantile of one in twenty. */
const LEAST_SAMPLES = 20;

/** The prices of a pair over the last half hour, oldest first. */
export class PriceSeries {
  readonly #times: number[] = [];
  readonly #prices: number[] = [];

  /** @param price what one and the same input gives: any unit, above 0. Others are left out */
  add(atMs: number, price: number): void {
    if (!(price > 0) || !Number.isFinite(price) || atMs <= (this.#times.at(-1) ?? Number.NEGATIVE_INFINITY)) return;
    this.#times.push(atMs);
    this.#prices.push(price);
    if (this.#times.length > MOST_PRICES) {
      this.#times.shift();
      this.#prices.shift();
    }
  }

  /** How far the price fell within `spanMs` of each moment. One outlier counts once as a start, and once in each span it lies in. */
  movementOver(spanMs: number): PriceMovement {
    const losses: number[] = [];
    let [firstMs, lastMs] = [0, 0];
    for (let start = 0; start < this.#times.length; start++) {
      const loss = this.#lossFrom(start, spanMs);
      if (loss === undefined) continue;
      lastMs = this.#times[start]!;
      if (losses.length === 0) firstMs = lastMs;
      losses.push(loss);
    }
    losses.sort((a, b) => a - b);
    const movement = losses.length < LEAST_SAMPLES ? undefined : losses[Math.ceil(QUANTILE * losses.length) - 1];
    return { samples: losses.length, windowMs: lastMs - firstMs, spanMs, quantile: QUANTILE, movement };
  }

  /** The largest loss within the span after a price; undefined if the span was not observed from end to end. */
  #lossFrom(start: number, spanMs: number): number | undefined {
    const until = this.#times[start]! + spanMs;
    const price = this.#prices[start]!;
    let lowest = price;
    for (let at = start + 1; at < this.#times.length; at++) {
      if (this.#times[at]! - this.#times[at - 1]! > LONGEST_GAP_MS) return undefined;
      lowest = Math.min(lowest, this.#prices[at]!);
      if (this.#times[at]! >= until) return (price - lowest) / price;
    }
    return undefined;
  }
}
