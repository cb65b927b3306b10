/** New names between two sweeps of those whose burst is whole again. */
const SWEEP_EVERY = 1_000;

/**
 * How often something may happen, by name: in the long run so many times a second, and a burst at once. One number per name,
 * the time at which its burst is whole again.
 */
export class Paces {
  /** 0: any number may. */
  readonly #intervalMs: number;
  readonly #spanMs: number;
  readonly #wholeAtMs = new Map<string, number>();
  #made = 0;

  /** @param perSecond 0: any number */
  constructor(perSecond: number, burstSeconds: number) {
    this.#intervalMs = perSecond === 0 ? 0 : 1_000 / perSecond;
    this.#spanMs = burstSeconds * 1_000;
  }

  /** Time until one more may happen after `ahead` others. Milliseconds; 0: now. */
  waitMs(name: string, atMs: number, ahead = 0): number {
    if (this.#intervalMs === 0) return 0;
    const wholeAtMs = Math.max(this.#wholeAtMs.get(name) ?? atMs, atMs);
    const lateMs = wholeAtMs + (1 + ahead) * this.#intervalMs - atMs - this.#spanMs;
    // A microsecond of grace, because sums of fractions are inexact.
    return lateMs > 0.001 ? lateMs : 0;
  }

  /** Notes that it has happened. @param share what part of one it counts as */
  take(name: string, atMs: number, share = 1): void {
    if (this.#intervalMs === 0) return;
    const known = this.#wholeAtMs.get(name);
    if (known === undefined && ++this.#made % SWEEP_EVERY === 0) this.#sweep(atMs);
    this.#wholeAtMs.set(name, Math.max(known ?? atMs, atMs) + share * this.#intervalMs);
  }

  #sweep(atMs: number): void {
    for (const [name, wholeAtMs] of this.#wholeAtMs) if (wholeAtMs <= atMs) this.#wholeAtMs.delete(name);
  }
}
