import type { Steps } from "../../long-searches.ts";

/** Work after which a search pauses, in the units of `StepWork`: a few milliseconds. */
const WORK_OF_A_STEP = 20_000;
/** An exact quote takes about as long as reading this many points off curves. */
const QUOTE_UNITS = 40;

/** Counts the work of a search since it began or last paused: one unit for each point read off a curve, 40 for an exact quote. */
export class StepWork {
  #units = 0;

  /** Forgets the work of earlier searches: many short ones do not make one long search. */
  begin(): void {
    this.#units = 0;
  }

  reads(count: number): void {
    this.#units += count;
  }

  quotes(count: number): void {
    this.#units += QUOTE_UNITS * count;
  }

  /** Pauses if there was much since the last pause: small searches make none. */
  *pause(): Steps<void> {
    if (this.#units < WORK_OF_A_STEP) return;
    this.#units = 0;
    yield;
  }
}
