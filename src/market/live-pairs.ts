import type { Now } from "../primitives/clock.ts";
import type { MintPair } from "../venues/venue.ts";
import type { PairSearch } from "./pair-search.ts";
import type { Markets, PairMarkets } from "./port.ts";
import type { WatchedPair } from "./watched-pair.ts";
import type { WatchedPairs } from "./watched-pairs.ts";

interface LivePairsOptions {
  readonly pairs: WatchedPairs;
  readonly search: PairSearch;
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** How often a pair in use is searched again. Milliseconds. */
  readonly researchMs: number;
  /** Least time between two background searches, of any pairs. Milliseconds. */
  readonly researchPaceMs: number;
}

/** Least time between two searches of a pair that nobody can trade, such as one whose curve has completed. Milliseconds. */
const DOUBT_MS = 1_000;

/** The markets of pairs: searched for on first use, answered from memory afterwards. */
export class LivePairs implements Pick<Markets, "marketsOf" | "knownMarkets" | "searchSoon"> {
  readonly #options: LivePairsOptions;
  readonly #search: (pair: WatchedPair) => Promise<void>;
  #researchedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: LivePairsOptions) {
    this.#options = options;
    this.#search = (pair) => options.search.search(pair);
  }

  /** @throws TradewireError STATE_STALE, UPSTREAM_ERROR */
  marketsOf({ a, b }: MintPair): PairMarkets | Promise<PairMarkets> {
    const { pairs, now } = this.#options;
    const pair = pairs.of(a, b);
    const atMs = now();
    pair.lastUsedMs = atMs;
    if (pair.reads !== undefined) return pair.reads;
    if (!pair.schedule.hasSearched) return pair.readBySearch(this.#search);
    if (pair.schedule.isDue(atMs) && !pair.isResearching) {
      if (pair.isEmpty) return pair.readBySearch(this.#search);
      this.#research(pair);
    }
    const answer = pair.answer();
    if (answer === undefined) return pair.readMissing();
    pair.assertFresh();
    return answer;
  }

  knownMarkets({ a, b }: MintPair): PairMarkets | undefined {
    const { pairs, now, researchMs } = this.#options;
    const pair = pairs.of(a, b);
    const atMs = now();
    pair.lastUsedMs = atMs;
    if (pair.reads !== undefined) return undefined;
    if (!pair.schedule.hasSearched) {
      pair.readBySearch(this.#search);
      return undefined;
    }
    // Nobody waits for this answer: pairs without a market are searched less often.
    if (pair.schedule.isDue(atMs, pair.isEmpty ? researchMs : 0)) this.#research(pair);
    const answer = pair.answer();
    if (answer === undefined) {
      pair.readMissing();
      return undefined;
    }
    return pair.isFresh() ? answer : undefined;
  }

  searchSoon({ a, b }: MintPair): void {
    const { pairs, now } = this.#options;
    const pair = pairs.of(a, b);
    if (pair.reads !== undefined || pair.isResearching || !pair.schedule.hasSearched) return;
    if (now() >= pair.schedule.beganAtMs + DOUBT_MS) this.#research(pair);
  }

  /** Searches the pair in the background, unless another search has just begun: a later call will do it. */
  #research(pair: WatchedPair): void {
    const { now, warn, researchPaceMs } = this.#options;
    if (pair.isResearching || this.#researchedAtMs + researchPaceMs > now()) return;
    this.#researchedAtMs = now();
    pair.research(this.#search, (error) => {
      warn(`Searching again for markets of ${pair.pair.a} and ${pair.pair.b} failed: ${String(error)}`);
    });
  }
}
