/** The outcome of one call against a bucket. Milliseconds and whole calls. */
export class Verdict {
  allowed = true;
  /** Calls that would still pass now. */
  remaining = 0;
  /** Until the bucket is full again. No whole number to begin with: every time takes its place. */
  resetMs = 0.5;
  /** Until one more call passes; 0 if this one did. */
  retryAfterMs = 0;
}

/** New buckets between two sweeps of full ones. */
const SWEEP_EVERY = 10_000;

/**
 * Token buckets of one policy, one per name. Uses the generic cell rate algorithm: a bucket is one number, the time at which
 * it is full again.
 */
export class TokenBuckets {
  readonly burst: number;
  readonly #intervalMs: number;
  /** How long an empty bucket takes to fill. */
  readonly #spanMs: number;
  readonly #fullAtMs = new Map<string, number>();
  #made = 0;

  /**
   * @param perSecond calls that pass in a second in the long run
   * @param burst calls that pass at once from a full bucket
   */
  constructor(perSecond: number, burst: number) {
    this.burst = burst;
    this.#intervalMs = 1_000 / perSecond;
    this.#spanMs = burst * this.#intervalMs;
  }

  /** Buckets in memory: those not full, and full ones until the next sweep. */
  get size(): number {
    return this.#fullAtMs.size;
  }

  /**
   * Takes one call from a bucket if there is one. `nowMs` is of any monotonic clock.
   *
   * @param verdict written to and returned: one may serve all limits of a call
   */
  take(name: string, nowMs: number, verdict: Verdict = new Verdict()): Verdict {
    const fullAtMs = this.#fullAt(name, nowMs);
    if (this.#refuses(fullAtMs, nowMs, verdict)) return verdict;
    const nextMs = fullAtMs + this.#intervalMs;
    this.#fullAtMs.set(name, nextMs);
    verdict.allowed = true;
    verdict.remaining = Math.floor((this.#spanMs - (nextMs - nowMs)) / this.#intervalMs + 0.001);
    verdict.resetMs = nextMs - nowMs;
    verdict.retryAfterMs = 0;
    return verdict;
  }

  /** What `take` would return if it refused; undefined if it would not. Takes nothing. */
  refusal(name: string, nowMs: number): Verdict | undefined {
    const fullAtMs = this.#fullAtMs.get(name);
    if (fullAtMs === undefined) return undefined;
    const verdict = new Verdict();
    return this.#refuses(Math.max(fullAtMs, nowMs), nowMs, verdict) ? verdict : undefined;
  }

  /** Writes the verdict if it is a refusal. */
  #refuses(fullAtMs: number, nowMs: number, verdict: Verdict): boolean {
    const excessMs = fullAtMs + this.#intervalMs - nowMs - this.#spanMs;
    // A microsecond of grace, because sums of fractions are inexact.
    if (excessMs <= 0.001) return false;
    verdict.allowed = false;
    verdict.remaining = 0;
    verdict.resetMs = fullAtMs - nowMs;
    verdict.retryAfterMs = excessMs;
    return true;
  }

  /** Returns one call that was taken and does not count after all. */
  giveBack(name: string): void {
    const fullAtMs = this.#fullAtMs.get(name);
    if (fullAtMs !== undefined) this.#fullAtMs.set(name, fullAtMs - this.#intervalMs);
  }

  /** When a bucket is full again, or since when it has been; undefined if it was not used lately. */
  fullAtMs(name: string): number | undefined {
    return this.#fullAtMs.get(name);
  }

  /**
   * Charges calls as if all were made at one time, if they leave less than the bucket has now.
   *
   * @param fromMs when the bucket was full, or the time of the calls if it was full already
   * @param mostDebtMs what they can add to the time that an empty bucket takes to fill
   * @returns when the bucket is full again if it has no other debt
   */
  charge(name: string, calls: number, fromMs: number, nowMs: number, mostDebtMs: number): number {
    const chargedMs = Math.min(fromMs + calls * this.#intervalMs, nowMs + this.#spanMs + mostDebtMs);
    if (chargedMs > this.#fullAt(name, nowMs)) this.#fullAtMs.set(name, chargedMs);
    return chargedMs;
  }

  /** When the bucket is full again, now at the earliest. Each new name counts towards the next sweep. */
  #fullAt(name: string, nowMs: number): number {
    const known = this.#fullAtMs.get(name);
    if (known === undefined && ++this.#made % SWEEP_EVERY === 0) this.#sweep(nowMs);
    return Math.max(known ?? nowMs, nowMs);
  }

  #sweep(nowMs: number): void {
    for (const [name, fullAtMs] of this.#fullAtMs) if (fullAtMs <= nowMs) this.#fullAtMs.delete(name);
  }
}
