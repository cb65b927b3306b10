/** What a bucket said to one more call. Milliseconds and whole calls. */
export interface Verdict {
  readonly allowed: boolean;
  /** Calls that would still pass now. */
  readonly remaining: number;
  /** Until the bucket is full again. */
  readonly resetMs: number;
  /** Until one more call passes; 0 when one does now. */
  readonly retryAfterMs: number;
}

/** When buckets that are full again are forgotten: after this many new ones. */
const SWEEP_EVERY = 10_000;

/**
 * Token buckets of one policy, one for each name, by the generic cell rate algorithm: a bucket is one number, the moment
 * at which it will be full again.
 */
export class TokenBuckets {
  readonly burst: number;
  readonly #intervalMs: number;
  readonly #fullAtMs = new Map<string, number>();
  #made = 0;

  /**
   * @param perSecond calls that pass in a second in the long run
   * @param burst calls that pass at once from a full bucket
   */
  constructor(perSecond: number, burst: number) {
    this.burst = burst;
    this.#intervalMs = 1_000 / perSecond;
  }

  /** Takes one call out of a bucket, if it holds one. Time may be any monotonic clock. */
  take(name: string, nowMs: number): Verdict {
    const known = this.#fullAtMs.get(name);
    if (known === undefined && ++this.#made % SWEEP_EVERY === 0) this.#sweep(nowMs);
    const fullAtMs = Math.max(known ?? nowMs, nowMs);
    const spanMs = this.burst * this.#intervalMs;
    const nextMs = fullAtMs + this.#intervalMs;
    // A thousandth of a millisecond of grace: sums of fractions are not exact.
    if (nextMs - nowMs > spanMs + 0.001) {
      return {
        allowed: false,
        remaining: 0,
        resetMs: fullAtMs - nowMs,
        retryAfterMs: nextMs - nowMs - spanMs,
      };
    }
    this.#fullAtMs.set(name, nextMs);
    return {
      allowed: true,
      remaining: Math.floor((spanMs - (nextMs - nowMs)) / this.#intervalMs + 0.001),
      resetMs: nextMs - nowMs,
      retryAfterMs: 0,
    };
  }

  /** Puts back one call that was taken and does not count after all. */
  giveBack(name: string): void {
    const fullAtMs = this.#fullAtMs.get(name);
    if (fullAtMs !== undefined) this.#fullAtMs.set(name, fullAtMs - this.#intervalMs);
  }

  /** Takes calls that passed elsewhere. A bucket's debt stays within one burst, so that it is paid in the time one takes to fill. */
  charge(name: string, calls: number, nowMs: number): void {
    const fullAtMs = Math.max(this.#fullAtMs.get(name) ?? nowMs, nowMs) + calls * this.#intervalMs;
    this.#fullAtMs.set(name, Math.min(fullAtMs, nowMs + 2 * this.burst * this.#intervalMs));
  }

  #sweep(nowMs: number): void {
    for (const [name, fullAtMs] of this.#fullAtMs) if (fullAtMs <= nowMs) this.#fullAtMs.delete(name);
  }
}
