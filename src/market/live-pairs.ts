import type { Now } from "../primitives/clock.ts";
import type { MintPair } from "../venues/venue.ts";
import type { Markets, PairMarkets, SearchCaller } from "./port.ts";
import type { PairSearch } from "./search/pair-search.ts";
import { sinceStart } from "./watch/since-start.ts";
import type { WatchedPair } from "./watched-pair.ts";
import type { WatchedPairs } from "./watched-pairs.ts";

interface LivePairsOptions {
  readonly pairs: WatchedPairs;
  readonly search: PairSearch;
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** Least time between two background searches, of any pairs. Milliseconds. */
  readonly researchPaceMs: number;
}

/** Minimum time between two attempts to make a pair hot if no caller waits. Milliseconds. */
const ATTEMPT_MS = 500;

/** The markets of pairs: searched for on first use, answered from memory afterwards. */
export class LivePairs implements Pick<Markets, "marketsOf" | "knownMarkets" | "searchSoon"> {
  readonly #options: LivePairsOptions;
  readonly #search: (pair: WatchedPair) => Promise<void>;
  /** The promises of callers that have, or wait for, a turn of their own. */
  readonly #cold = new WeakMap<WatchedPair, Map<string, Promise<PairMarkets>>>();
  #researchedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: LivePairsOptions) {
    this.#options = options;
    this.#search = (pair) => options.search.search(pair);
  }

  /** @throws TradewireError STATE_STALE, UPSTREAM_ERROR, RATE_LIMIT_EXCEEDED, OVERLOADED */
  marketsOf({ a, b }: MintPair, caller?: SearchCaller): PairMarkets | Promise<PairMarkets> {
    const { pairs, now } = this.#options;
    const pair = pairs.of(a, b);
    const atMs = now();
    pair.lastUsedMs = sinceStart(atMs);
    if (pair.reads !== undefined) return pair.reads;
    if (!pair.schedule.hasSearched) return this.#readCold(pair, caller);
    if (pair.schedule.isDue(atMs) && !pair.isResearching) {
      if (pair.isEmpty) return this.#readCold(pair, caller);
      this.#research(pair);
    }
    const answer = pair.answer();
    if (answer === undefined) return pair.readMissing();
    if (pair.isFresh(atMs)) return answer;
    const late = pair.readWritten();
    if (late !== undefined) return late;
    pair.assertFresh(atMs);
    return answer;
  }

  knownMarkets({ a, b }: MintPair, caller?: SearchCaller): PairMarkets | "late" | undefined {
    const { pairs, now } = this.#options;
    const pair = pairs.of(a, b);
    const atMs = now();
    pair.lastUsedMs = sinceStart(atMs);
    if (pair.reads !== undefined) return pair.isReadingWritten && !pair.hasMissed(atMs) ? "late" : undefined;
    if (!pair.schedule.hasSearched) {
      if (atMs < pair.attemptedAtMs + ATTEMPT_MS) return undefined;
      pair.attemptedAtMs = atMs;
      this.#readCold(pair, caller);
      return undefined;
    }
    // No caller waits for this answer: pairs without a market are then searched less often.
    if (pair.schedule.isIdleDue(atMs)) this.#research(pair);
    const answer = pair.answer();
    if (answer === undefined) {
      pair.readMissing();
      return undefined;
    }
    if (pair.isFresh(atMs)) return answer;
    return pair.hasMissed(atMs) || pair.readWritten() === undefined ? undefined : "late";
  }

  searchSoon({ a, b }: MintPair): void {
    const { pairs, now } = this.#options;
    const pair = pairs.of(a, b);
    if (pair.reads !== undefined || pair.isResearching || !pair.schedule.hasSearched) return;
    if (pair.schedule.mayDoubt(now()) && this.#research(pair)) pair.schedule.doubt();
  }

  /** Makes a pair hot. A caller that asks again while it waits for its turn has that one turn. */
  #readCold(pair: WatchedPair, caller: SearchCaller | undefined): Promise<PairMarkets> {
    let waiting = this.#cold.get(pair);
    if (waiting === undefined) {
      waiting = new Map();
      this.#cold.set(pair, waiting);
    }
    const callers = waiting;
    const name = `${caller?.principal?.keyId ?? ""} ${caller?.peer ?? ""}`;
    const pending = callers.get(name);
    if (pending !== undefined) return pending;
    const reading = this.#readInTurn(pair, caller, () => {
      callers.delete(name);
      if (callers.size === 0) this.#cold.delete(pair);
    });
    callers.set(name, reading);
    // Callers that only look into memory drop the promise: a refusal that nobody waits for must not end the process.
    reading.catch(() => {});
    return reading;
  }

  /**
   * Each caller waits for a turn of its own until one of them gets it; the result is shared.
   * @throws TradewireError as `marketsOf`
   */
  async #readInTurn(pair: WatchedPair, caller: SearchCaller | undefined, onTurn: () => void): Promise<PairMarkets> {
    const { search, now } = this.#options;
    await search.prepare(pair, caller).finally(onTurn);
    if (pair.reads !== undefined) return pair.reads;
    const isOpen = !pair.schedule.hasSearched || (pair.isEmpty && pair.schedule.isDue(now()));
    return isOpen ? pair.readBySearch(this.#search) : this.marketsOf(pair.pair, caller);
  }

  /** Searches the pair in the background, unless another search has just begun: a later call will do it. @returns true if it does */
  #research(pair: WatchedPair): boolean {
    const { now, warn, researchPaceMs } = this.#options;
    if (pair.isResearching || this.#researchedAtMs + researchPaceMs > now()) return false;
    this.#researchedAtMs = now();
    pair.research(this.#search, (error) => {
      warn(`Searching again for markets of ${pair.pair.a} and ${pair.pair.b} failed: ${String(error)}`);
    });
    return true;
  }
}
