import type { Steps } from "../long-searches.ts";

/** Work after which a search pauses, in the units of `StepWork`: a few milliseconds. */
const WORK_OF_A_STEP = 1_500;
/** An exact quote takes about as long as filling this many markets of a network. */
const QUOTE_UNITS = 4;

/** Counts the work of a search since its last pause: one unit for each market of a network that is filled, four for an exact quote. */
export class StepWork {
  #units = 0;

  fills(markets: number): void {
    this.#units += markets;
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
