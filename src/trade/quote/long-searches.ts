/** Searches at once that wait for their turn or run; trades beyond them go without. */
const MOST_AT_ONCE = 32;

/** A search in steps: yields after each, so that other work may run. */
export type Steps<T> = Generator<undefined, T>;

/**
 * Runs searches that are long for one turn of the event loop. What ends with its first step ends at once. Anything else is made anew
 * in its turn, one after another, with a pause after each step: of many equal trades the first one searches, and the others find
 * what it found.
 */
export class LongSearches {
  readonly #pause: () => Promise<void>;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** @param pause lets other work run */
  constructor(pause: () => Promise<void>) {
    this.#pause = pause;
  }

  /**
   * @param start begins the search on the newest state; `isAllowed` is false if too many wait: it must end with its first step then
   * @throws what the search throws
   */
  run<T>(start: (isAllowed: boolean) => Steps<T>): T | Promise<T> {
    const first = start(this.#waiting < MOST_AT_ONCE).next();
    if (first.done === true) return first.value;
    this.#waiting++;
    const result = this.#last.then(() => this.#inTurn(start(true)));
    this.#last = result.catch(() => undefined).finally(() => this.#waiting--);
    return result;
  }

  async #inTurn<T>(steps: Steps<T>): Promise<T> {
    for (;;) {
      await this.#pause();
      const { done, value } = steps.next();
      if (done === true) return value;
    }
  }
}

/** All steps of a search at once. */
export function allAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
