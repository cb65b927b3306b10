import { sinceStart } from "../watch/since-start.ts";

/** How often a pair is searched. Milliseconds. */
export interface SearchPace {
  /** After a search that found nothing or failed. */
  readonly negativeMs: number;
  /** After the first complete search that found markets; later ones come less and less often. */
  readonly researchMs: number;
}

/** How a search of a pair ended. Times are epoch milliseconds. */
export interface SearchEnd {
  readonly isEmpty: boolean;
  readonly isComplete: boolean;
  /** The first known search of the chain for the pair, and the one whose findings are in use. */
  readonly firstAtMs: number;
  readonly searchedAtMs: number;
}

/** Longest time between two searches of a pair in use, however long it has been known. Milliseconds. */
const MAX_INTERVAL_MS = 6 * 3_600_000;
/** Minimum time between two searches of a pair that cannot be traded, such as one whose curve has completed. Milliseconds. */
const DOUBT_MS = 1_000;

/** When a pair was searched for markets, and when the next search is due. Times are epoch milliseconds. */
export class SearchSchedule {
  readonly #pace: SearchPace;
  #beganAtMs = 0;
  #searchedAtMs = 0;
  /** Undefined until the first search ends. By `sinceStart`: every build asks. */
  #due: number | undefined;
  /** When an empty pair is searched on the chain again, not only looked at where markets are likely. */
  #wholeDueAtMs = 0;
  /** When the chain is searched again without a waiting caller. */
  #idleDueAtMs = 0;
  #partialInARow = 0;
  #emptyInARow = 0;
  #doubtsInARow = 0;

  constructor(pace: SearchPace) {
    this.#pace = pace;
  }

  /** True once a search has ended. */
  get hasSearched(): boolean {
    return this.#due !== undefined;
  }

  /** When the last search began; 0 before the first. */
  get beganAtMs(): number {
    return this.#beganAtMs;
  }

  /** When the search whose findings are in use was made; 0 before the first search. */
  get searchedAtMs(): number {
    return this.#searchedAtMs;
  }

  /** True if another search is due; false before the first has ended. */
  isDue(atMs: number): boolean {
    return this.#due !== undefined && sinceStart(atMs) > this.#due;
  }

  /** True if an empty pair is due to be searched on the chain. */
  isWholeDue(atMs: number): boolean {
    return atMs > this.#wholeDueAtMs;
  }

  /** True if another search is due that nobody waits for. */
  isIdleDue(atMs: number): boolean {
    return this.isDue(atMs) && atMs > this.#idleDueAtMs;
  }

  /** True if the pair may be searched because it cannot be traded: less and less often while that finds nothing. */
  mayDoubt(atMs: number): boolean {
    const { researchMs } = this.#pace;
    return atMs >= this.#beganAtMs + Math.min(Math.max(DOUBT_MS, researchMs), DOUBT_MS * 2 ** this.#doubtsInARow);
  }

  /** Notes a search made because the pair cannot be traded. */
  doubt(): void {
    this.#doubtsInARow += 1;
  }

  begin(atMs: number): void {
    this.#beganAtMs = atMs;
  }

  /**
   * A complete search that found markets is repeated after as much time as they have been known for. One that found nothing or
   * failed in part is repeated soon, then backs off: searches are the calls nodes charge most for.
   */
  end(atMs: number, { isEmpty, isComplete, firstAtMs, searchedAtMs }: SearchEnd): void {
    const { negativeMs, researchMs } = this.#pace;
    this.#searchedAtMs = searchedAtMs;
    this.#partialInARow = isComplete ? 0 : this.#partialInARow + 1;
    this.#emptyInARow = isEmpty ? this.#emptyInARow + 1 : 0;
    const mostMs = Math.max(researchMs, MAX_INTERVAL_MS);
    const knownForMs = Math.min(Math.max(researchMs, searchedAtMs - firstAtMs), mostMs);
    // Otherwise a pair that is only used briefly would keep the index's markets for ever.
    const isOld = searchedAtMs + mostMs < atMs;
    this.#idleDueAtMs = isEmpty ? atMs + negativeMs + (isOld ? 0 : knownForMs) : 0;
    if (isEmpty) {
      this.#due = sinceStart(atMs + negativeMs);
      this.#wholeDueAtMs = atMs + backOff(negativeMs, this.#emptyInARow, researchMs);
    } else if (isComplete) {
      // Pairs from the index may have been due for hours: do not search all of them at once after a restart.
      this.#due = sinceStart(isOld ? atMs : Math.max(searchedAtMs + knownForMs, atMs + researchMs));
    } else this.#due = sinceStart(atMs + backOff(negativeMs, this.#partialInARow, researchMs));
  }

  /** A look at the likely places of an empty pair found nothing. */
  look(atMs: number): void {
    this.#due = sinceStart(atMs + this.#pace.negativeMs);
  }

  /** New markets have been found. */
  clearDoubts(): void {
    this.#doubtsInARow = 0;
  }

  /** A market has gone: often another takes its place. */
  hasten(atMs: number): void {
    if (this.#due !== undefined) this.#due = Math.min(this.#due, sinceStart(atMs + this.#pace.negativeMs));
  }

  /** Retries soon. */
  fail(atMs: number): void {
    this.#due = sinceStart(atMs + this.#pace.negativeMs);
  }
}

function backOff(firstMs: number, times: number, mostMs: number): number {
  return Math.min(mostMs, firstMs * 2 ** (times - 1));
}
