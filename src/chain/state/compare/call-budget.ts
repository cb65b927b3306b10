import type { Now } from "../../../primitives/clock.ts";

/** Calls allowed per second; unused calls expire after a second. */
export class CallBudget {
  readonly #perSecond: number;
  readonly #now: Now;
  #left: number;
  #atMs: number;

  constructor(perSecond: number, now: Now) {
    this.#perSecond = perSecond;
    this.#now = now;
    this.#left = perSecond;
    this.#atMs = now();
  }

  /** Takes this many calls. @returns false if there are too few left */
  take(calls: number): boolean {
    const atMs = this.#now();
    const earned = (Math.max(0, atMs - this.#atMs) * this.#perSecond) / 1_000;
    // At least one round of questions fits, however small the budget.
    this.#left = Math.min(Math.max(this.#perSecond, calls), this.#left + earned);
    this.#atMs = atMs;
    if (this.#left < calls) return false;
    this.#left -= calls;
    return true;
  }
}
