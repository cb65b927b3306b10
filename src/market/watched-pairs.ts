import { type Address, compareAddresses } from "../primitives/address.ts";
import type { Now } from "../primitives/clock.ts";
import type { MintPair } from "../venues/venue.ts";
import type { MarketWatch } from "./market-watch.ts";
import type { MarketFault, PairMarkets } from "./port.ts";

/** A pair of mints that was asked for, and all that is known of its markets. Times are epoch milliseconds. */
export interface WatchedPair {
  /** The lower mint first. */
  readonly pair: MintPair;
  watches: readonly MarketWatch[];
  searchFaults: readonly MarketFault[];
  searched: readonly string[];
  /** Markets that were found and are not among the best, and when they were read. */
  readonly passedOver: Map<Address, { readonly venue: string; readonly atMs: number }>;
  /** When it is to be searched again; undefined until the first search has ended. */
  searchAgainAtMs: number | undefined;
  /** When the last search began. */
  searchedAtMs: number;
  /** Searches in a row of which a part failed. */
  partialSearches: number;
  lastUsedMs: number;
  /** Kept until an account behind it changes. */
  answer: PairMarkets | undefined;
  /** Until when `answer` needs no look at the age of its accounts. */
  freshUntilMs: number;
  /** The reads under way, shared by all who ask meanwhile. */
  work: Promise<PairMarkets> | undefined;
  researching: boolean;
}

/** The pairs in use. */
export class WatchedPairs {
  /** By the lower mint, then the higher. */
  readonly #rows = new Map<Address, Map<Address, WatchedPair>>();
  readonly #now: Now;

  constructor(now: Now) {
    this.#now = now;
  }

  /** The pair of two mints, in either order; a new one where it was not asked for before. */
  of(a: Address, b: Address): WatchedPair {
    const [low, high] = compareAddresses(a, b) < 0 ? [a, b] : [b, a];
    let row = this.#rows.get(low);
    if (row === undefined) {
      row = new Map();
      this.#rows.set(low, row);
    }
    let entry = row.get(high);
    if (entry === undefined) {
      entry = {
        pair: { a: low, b: high },
        watches: [],
        searchFaults: [],
        searched: [],
        passedOver: new Map(),
        searchAgainAtMs: undefined,
        searchedAtMs: 0,
        partialSearches: 0,
        lastUsedMs: this.#now(),
        answer: undefined,
        freshUntilMs: 0,
        work: undefined,
        researching: false,
      };
      row.set(high, entry);
    }
    return entry;
  }

  /** False once it was dropped, whether or not its mints were asked for again since. */
  has(entry: WatchedPair): boolean {
    return this.#rows.get(entry.pair.a)?.get(entry.pair.b) === entry;
  }

  /** Forgets the pair and lets go of its markets. */
  drop(entry: WatchedPair): void {
    for (const watch of entry.watches) watch.release();
    entry.watches = [];
    const row = this.#rows.get(entry.pair.a);
    row?.delete(entry.pair.b);
    if (row?.size === 0) this.#rows.delete(entry.pair.a);
  }

  all(): readonly WatchedPair[] {
    return [...this.#rows.values()].flatMap((row) => [...row.values()]);
  }

  size(): number {
    let count = 0;
    for (const row of this.#rows.values()) count += row.size;
    return count;
  }
}
