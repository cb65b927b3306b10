/** How often a pair is searched. Milliseconds. */
export interface SearchPace {
  /** After a search that found nothing or failed. */
  readonly negativeMs: number;
  /** After a complete search that found markets. */
  readonly researchMs: number;
}

/** When a pair was searched for markets, and when the next search is due. Times are epoch milliseconds. */
export class SearchSchedule {
  readonly #pace: SearchPace;
  #beganAtMs = 0;
  /** Undefined until the first search ends. */
  #dueAtMs: number | undefined;
  #partialInARow = 0;

  constructor(pace: SearchPace) {
    this.#pace = pace;
  }

  /** True once a search has ended. */
  get hasSearched(): boolean {
    return this.#dueAtMs !== undefined;
  }

  /** When the last search began; 0 before the first. */
  get beganAtMs(): number {
    return this.#beganAtMs;
  }

  /** True if another search has been due for more than `graceMs`; false before the first has ended. */
  isDue(atMs: number, graceMs = 0): boolean {
    return this.#dueAtMs !== undefined && atMs > this.#dueAtMs + graceMs;
  }

  begin(atMs: number): void {
    this.#beganAtMs = atMs;
  }

  /** Retries soon after an empty or partial result, then backs off: searches are the calls nodes charge most for. */
  end(atMs: number, { isEmpty, isComplete }: { readonly isEmpty: boolean; readonly isComplete: boolean }): void {
    const { negativeMs, researchMs } = this.#pace;
    this.#partialInARow = isComplete ? 0 : this.#partialInARow + 1;
    const backOffMs = isComplete ? researchMs : Math.min(researchMs, negativeMs * 2 ** (this.#partialInARow - 1));
    this.#dueAtMs = atMs + (isEmpty ? negativeMs : backOffMs);
  }

  /** Retries soon. */
  fail(atMs: number): void {
    this.#dueAtMs = atMs + this.#pace.negativeMs;
  }
}
