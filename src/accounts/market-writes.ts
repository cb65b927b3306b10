import type { MarketRow, MarketRows, SearchRow } from "./market-rows.ts";

interface MarketWritesOptions {
  readonly rows: MarketRows;
  /** Receives the error of a failed write, which is not repeated. */
  readonly fail: (error: unknown) => void;
}

/** How long a write waits for others to share its commits. Milliseconds. */
const GATHER_MS = 100;
/** Rows written by one statement. */
const ROWS_PER_WRITE = 500;
/** Most additions and removals that may wait. Further findings are dropped, and searched for again. */
const MAX_WAITING = 1_000;
/** Longest wait of `close` for pending writes; later ones are dropped. Milliseconds. */
const CLOSE_MS = 1_000;

/** What is written together. */
class Batch {
  readonly markets: MarketRow[] = [];
  /** By subject: the last one, with the time of the first. */
  readonly searches = new Map<string, SearchRow>();
  /** By address: how many of the markets waited then. Those that come later are written. */
  readonly removed = new Map<string, number>();
  readonly written = Promise.withResolvers<void>();
  size = 0;
}

/**
 * Writes of the index of markets, one batch after the other: nobody waits for them, and a commit costs more than what is in it. A
 * search is written after the markets it found: without them it would say that there are none.
 */
export class MarketWrites {
  readonly #options: MarketWritesOptions;
  #batch: Batch | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Settles once every batch that was begun is written. */
  #writing: Promise<void> = Promise.resolve();
  #isClosed = false;
  #isDropping = false;

  constructor(options: MarketWritesOptions) {
    this.#options = options;
  }

  /** Resolves when the rows are written, or given up. */
  add(markets: readonly MarketRow[], search: SearchRow | undefined): Promise<void> {
    return this.#gather((batch) => {
      // Of a hub there may be more than a call takes as arguments.
      for (const market of markets) batch.markets.push(market);
      if (search === undefined) return;
      const { first_at_ms } = batch.searches.get(search.subject) ?? search;
      batch.searches.set(search.subject, { ...search, first_at_ms });
    });
  }

  /** Removes markets, including those that wait to be written. Resolves when that is written or given up. */
  remove(addresses: readonly string[]): Promise<void> {
    return this.#gather(({ markets, removed }) => {
      for (const address of addresses) removed.set(address, markets.length);
    });
  }

  /** Writes waiting changes, if that does not take long. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const dropping = setTimeout(() => {
      this.#isDropping = true;
    }, CLOSE_MS);
    this.#send();
    await this.#writing;
    clearTimeout(dropping);
  }

  #gather(into: (batch: Batch) => void): Promise<void> {
    if (this.#isClosed || (this.#batch?.size ?? 0) >= MAX_WAITING) return Promise.resolve();
    if (this.#batch === undefined) {
      this.#batch = new Batch();
      const due = () => this.#send();
      void this.#writing.then(() => {
        if (this.#batch !== undefined) this.#timer = setTimeout(due, GATHER_MS);
      });
    }
    this.#batch.size += 1;
    into(this.#batch);
    return this.#batch.written.promise;
  }

  #send(): void {
    clearTimeout(this.#timer);
    const batch = this.#batch;
    if (batch === undefined) return;
    this.#batch = undefined;
    this.#writing = this.#writing
      .then(() => this.#write(batch))
      .catch(this.#options.fail)
      .finally(batch.written.resolve);
  }

  async #write({ markets, searches, removed }: Batch): Promise<void> {
    const { rows } = this.#options;
    await this.#inParts([...removed.keys()], (some) => rows.remove(some));
    await this.#inParts(markets, async (some, from) => {
      const kept = some.filter(({ address }, i) => from + i >= (removed.get(address) ?? 0));
      if (kept.length > 0) await rows.insert(kept);
    });
    await this.#inParts([...searches.values()], (some) => rows.noteSearched(some));
  }

  async #inParts<T>(all: readonly T[], write: (some: readonly T[], from: number) => Promise<void>): Promise<void> {
    for (let from = 0; from < all.length && !this.#isDropping; from += ROWS_PER_WRITE)
      await write(all.slice(from, from + ROWS_PER_WRITE), from);
  }
}
