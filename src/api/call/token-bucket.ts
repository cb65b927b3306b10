import type { Tabled } from "../../primitives/addresses/address-table.ts";

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

/** What changes with each call: kept in place, so that a call neither looks a name up twice nor makes an object for the time. */
class Bucket implements Tabled {
  /** No whole number to begin with: every time takes its place. */
  fullAtMs = 0.5;
  /** The buckets it is one of; undefined once it is forgotten. */
  table: TokenBuckets | undefined;

  constructor(table: TokenBuckets) {
    this.table = table;
  }
}

/** Who keeps the bucket that was used last for it, of whichever policy. */
export interface BucketKeeper {
  bucket?: Tabled | undefined;
}

/**
 * Token buckets of one policy, one per name. Uses the generic cell rate algorithm: a bucket is one number, the time at which
 * it is full again.
 */
export class TokenBuckets {
  readonly burst: number;
  readonly #intervalMs: number;
  /** How long an empty bucket takes to fill. */
  readonly #spanMs: number;
  readonly #buckets = new Map<string, Bucket>();
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
    return this.#buckets.size;
  }

  /**
   * Takes one call from a bucket if there is one. `nowMs` is of any monotonic clock.
   *
   * @param verdict written to and returned: one may serve all limits of a call
   * @param keeper of the same name at each call
   */
  take(name: string, nowMs: number, verdict: Verdict = new Verdict(), keeper?: BucketKeeper): Verdict {
    const known = this.#find(name, keeper);
    const fullAtMs = fullFrom(known, nowMs);
    if (this.#refuses(fullAtMs, nowMs, verdict)) return verdict;
    const nextMs = fullAtMs + this.#intervalMs;
    (known ?? this.#add(name, nowMs)).fullAtMs = nextMs;
    verdict.allowed = true;
    verdict.remaining = Math.floor((this.#spanMs - (nextMs - nowMs)) / this.#intervalMs + 0.001);
    verdict.resetMs = nextMs - nowMs;
    verdict.retryAfterMs = 0;
    return verdict;
  }

  #find(name: string, keeper: BucketKeeper | undefined): Bucket | undefined {
    const kept = keeper?.bucket;
    if (kept !== undefined && kept.table === this) return kept as Bucket;
    const known = this.#buckets.get(name);
    if (keeper !== undefined) keeper.bucket = known;
    return known;
  }

  /** What `take` would return if it refused; undefined if it would not. Takes nothing. */
  refusal(name: string, nowMs: number): Verdict | undefined {
    const known = this.#buckets.get(name);
    if (known === undefined) return undefined;
    const verdict = new Verdict();
    return this.#refuses(fullFrom(known, nowMs), nowMs, verdict) ? verdict : undefined;
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
    const known = this.#buckets.get(name);
    if (known !== undefined) known.fullAtMs -= this.#intervalMs;
  }

  /** When a bucket is full again, or since when it has been; undefined if it was not used lately. */
  fullAtMs(name: string): number | undefined {
    return this.#buckets.get(name)?.fullAtMs;
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
    const known = this.#buckets.get(name);
    if (chargedMs > fullFrom(known, nowMs)) (known ?? this.#add(name, nowMs)).fullAtMs = chargedMs;
    return chargedMs;
  }

  /** Each new name counts towards the next sweep. */
  #add(name: string, nowMs: number): Bucket {
    if (++this.#made % SWEEP_EVERY === 0) this.#sweep(nowMs);
    const bucket = new Bucket(this);
    this.#buckets.set(name, bucket);
    return bucket;
  }

  #sweep(nowMs: number): void {
    for (const [name, bucket] of this.#buckets) {
      if (bucket.fullAtMs > nowMs) continue;
      this.#buckets.delete(name);
      bucket.table = undefined;
    }
  }
}

/** When a bucket is full again, now at the earliest. */
const fullFrom = (bucket: Bucket | undefined, nowMs: number): number => Math.max(bucket?.fullAtMs ?? nowMs, nowMs);
