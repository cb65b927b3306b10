/** The outcome of one call against a bucket. Milliseconds and whole calls. */
export class Verdict {
  allowed = true;
  /** Calls that would still pass now. */
  remaining = 0;
  /** Until the bucket is full again. Starts as a fraction, so that the engine stores it as a double in place. */
  resetMs = 0.5;
  /** Until one more call passes; 0 if this one did. */
  retryAfterMs = 0;
}

/** New buckets between two sweeps of full ones. */
const SWEEP_EVERY = 10_000;

/** Initial places for buckets; doubled whenever they are used up. */
const FIRST_PLACES = 1_024;
/** Place of a missing bucket. */
const NONE = -1;

/** Caches the place of its last used bucket, of any policy. */
export interface BucketKeeper {
  /** Identifies whose place it is: a set of buckets between two sweeps. */
  bucketsOf?: object | undefined;
  bucketAt?: number;
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
  /** The places of buckets, by name. */
  readonly #places = new Map<string, number>();
  /** By place, when a bucket is full again. A plain array of numbers: those of ten thousand names stay in the processor's caches. */
  #fullAtMs = new Float64Array(FIRST_PLACES);
  /** Places in use and freed ones. */
  #placed = 0;
  /** Those of forgotten buckets. */
  readonly #freed: number[] = [];
  /** Stored with each cached place; replaced after each sweep, because sweeps free places. */
  #sinceSweep = {};
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
    return this.#places.size;
  }

  /**
   * Takes one call from a bucket if there is one. `nowMs` is of any monotonic clock.
   *
   * @param verdict written to and returned: one may serve all limits of a call
   * @param keeper of the same name at each call
   */
  take(name: string, nowMs: number, verdict: Verdict = new Verdict(), keeper?: BucketKeeper): Verdict {
    const place = this.#find(name, keeper);
    const fullAtMs = this.#fullFrom(place, nowMs);
    if (this.#refuses(fullAtMs, nowMs, verdict)) return verdict;
    const nextMs = fullAtMs + this.#intervalMs;
    this.#set(place, name, nextMs, nowMs);
    verdict.allowed = true;
    verdict.remaining = Math.floor((this.#spanMs - (nextMs - nowMs)) / this.#intervalMs + 0.001);
    verdict.resetMs = nextMs - nowMs;
    verdict.retryAfterMs = 0;
    return verdict;
  }

  #find(name: string, keeper: BucketKeeper | undefined): number {
    if (keeper?.bucketsOf === this.#sinceSweep) return keeper.bucketAt!;
    const place = this.#places.get(name) ?? NONE;
    if (keeper !== undefined && place !== NONE) {
      keeper.bucketsOf = this.#sinceSweep;
      keeper.bucketAt = place;
    }
    return place;
  }

  /** When a bucket is full again, now at the earliest. */
  #fullFrom(place: number, nowMs: number): number {
    return place === NONE ? nowMs : Math.max(this.#fullAtMs[place]!, nowMs);
  }

  #set(place: number, name: string, fullAtMs: number, nowMs: number): void {
    const at = place === NONE ? this.#add(name, nowMs) : place;
    this.#fullAtMs[at] = fullAtMs;
  }

  /** The verdict of `take` if it would refuse; undefined if it would not. Takes nothing. */
  refusal(name: string, nowMs: number): Verdict | undefined {
    const place = this.#places.get(name);
    if (place === undefined) return undefined;
    const verdict = new Verdict();
    return this.#refuses(this.#fullFrom(place, nowMs), nowMs, verdict) ? verdict : undefined;
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

  /** Gives back one call that was taken and does not count after all. */
  giveBack(name: string): void {
    const place = this.#places.get(name);
    if (place !== undefined) this.#fullAtMs[place]! -= this.#intervalMs;
  }

  /** When a bucket is full again, or since when it has been; undefined if it was not used lately. */
  fullAtMs(name: string): number | undefined {
    const place = this.#places.get(name);
    return place === undefined ? undefined : this.#fullAtMs[place];
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
    const place = this.#places.get(name) ?? NONE;
    if (chargedMs > this.#fullFrom(place, nowMs)) this.#set(place, name, chargedMs, nowMs);
    return chargedMs;
  }

  /** Each new name counts towards the next sweep. @returns its place */
  #add(name: string, nowMs: number): number {
    if (++this.#made % SWEEP_EVERY === 0) this.#sweep(nowMs);
    const place = this.#freed.pop() ?? this.#placed++;
    if (place === this.#fullAtMs.length) {
      const more = new Float64Array(2 * place);
      more.set(this.#fullAtMs);
      this.#fullAtMs = more;
    }
    this.#places.set(name, place);
    return place;
  }

  #sweep(nowMs: number): void {
    this.#sinceSweep = {};
    for (const [name, place] of this.#places) {
      if (this.#fullAtMs[place]! > nowMs) continue;
      this.#places.delete(name);
      this.#freed.push(place);
    }
  }
}
