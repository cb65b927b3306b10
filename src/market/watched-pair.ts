import type { Now } from "../primitives/clock.ts";
import type { SpotBound } from "../venues/spot-bound.ts";
import type { MintPair } from "../venues/venue.ts";
import { completeWatches } from "./complete-watches.ts";
import type { RememberedHubs } from "./hubs/remembered-hubs.ts";
import type { LiveAccounts } from "./live-accounts.ts";
import type { MarketWatch } from "./market-watch.ts";
import { PairAnswer } from "./pair-answer.ts";
import { PassedOver } from "./passed-over.ts";
import type { HotMarket, MarketFault, PairMarkets } from "./port.ts";
import { type SearchPace, SearchSchedule } from "./search/search-schedule.ts";
import { sinceStart } from "./watch/since-start.ts";
import { contestedAmong, contestedState, lateState, staleState } from "./watch/state-refusals.ts";
import type { VersionedMarkets } from "./watch/versioned-markets.ts";

/** After a wait in vain, how long nobody waits for it who can do without the pair. Milliseconds. */
const MISSED_MS = 10_000;

/** Never added to. */
const NONE: MarketWatch[] = [];

/** What every watched pair shares. */
export interface PairContext {
  readonly live: LiveAccounts;
  readonly head: { slotAgeMs(): number };
  readonly now: Now;
  /** Older state is not answered. Milliseconds. */
  readonly maxAgeMs: number;
  readonly pace: SearchPace;
  /** A pair that had no market has one now. */
  readonly onFilled: () => void;
}

/** The result of one search for markets of a pair. */
export interface PairFindings {
  readonly added: readonly MarketWatch[];
  /** Watches that are no longer among the best. */
  readonly dropped: ReadonlySet<MarketWatch>;
  readonly faults: readonly MarketFault[];
  /** Venues that were searched without a failure. */
  readonly searched: readonly string[];
  /** False if a part failed that may succeed soon. */
  readonly isComplete: boolean;
  /** When the chain was first searched for the pair, and when for these findings (epoch milliseconds). */
  readonly firstAtMs: number;
  readonly searchedAtMs: number;
}

/** A pair of mints in use: its markets, the answer made of them, how fresh that is, and the reads in flight for it. */
export class WatchedPair {
  // Field order: those that every build uses come first, because most pairs are in no processor cache.
  /** The lower mint first. */
  readonly pair: MintPair;
  /** The one it is in, see `WatchedPairs`. */
  readonly table: object | undefined;
  /** By `sinceStart`. */
  lastUsedMs: number;
  /** Shared by all callers that wait. */
  #reads: Promise<PairMarkets> | undefined;
  /** True if they are those of `readWritten`. */
  #isLate = false;
  /** Until then the last wait of `readWritten` counts as one in vain (epoch milliseconds). */
  #missedUntilMs = 0;
  readonly schedule: SearchSchedule;
  /** Built from the markets; outdated for those in `#changed`. */
  #answer: PairAnswer | undefined;
  /** Watches that changed since the answer was made and were not followed, each once. */
  #changed = NONE;
  /** Markets of the next answer, if some were followed. */
  #next: VersionedMarkets | undefined;
  readonly #context: PairContext;
  /** Until then `#answer` is fresh without checking its accounts, unless there was a setback since. By `sinceStart`. */
  #freshUntilMs: number | undefined;
  #setbacks = 0;
  /** Remembered hubs between its mints; undefined before the first request. */
  hubs: RememberedHubs | undefined;
  #isResearching = false;
  #watches: readonly MarketWatch[] = NONE;
  /** When it was last requested to become hot without a waiting caller (epoch milliseconds). */
  attemptedAtMs = 0;
  readonly passedOver = new PassedOver();
  readonly #line = Object.freeze({});
  /** How many answers were made. */
  answers = 0;
  #searchFaults: readonly MarketFault[] = [];
  #searched: readonly string[] = [];

  constructor(pair: MintPair, context: PairContext, table?: object) {
    this.pair = pair;
    this.table = table;
    this.#context = context;
    this.schedule = new SearchSchedule(context.pace);
    this.lastUsedMs = sinceStart(context.now());
  }

  get watches(): readonly MarketWatch[] {
    return this.#watches;
  }

  get isEmpty(): boolean {
    return this.#watches.length === 0;
  }

  /** Venues that the last search covered. */
  get searched(): readonly string[] {
    return this.#searched;
  }

  /** The reads in flight that callers wait for; undefined if there are none. */
  get reads(): Promise<PairMarkets> | undefined {
    return this.#reads;
  }

  /** True while a search runs in the background. */
  get isResearching(): boolean {
    return this.#isResearching;
  }

  /** Its only market, if it has one and the last answer still stands; undefined otherwise. */
  get onlyMarket(): HotMarket | undefined {
    const markets = this.#answer?.markets;
    return markets !== undefined && markets.length === 1 ? markets[0] : undefined;
  }

  /** What is in memory of the pair's markets; undefined while one of them still lacks accounts. */
  answer(): PairMarkets | undefined {
    if (this.#answer === undefined || this.#changed !== NONE || this.#next !== undefined) {
      // A change without a setback is newer than the checked state, so freshness remains. Reads and searches, which add accounts, end it.
      const renewed = this.#answer?.after(this.#changed, this.#next);
      this.#forgetChanges();
      this.answers += 1;
      this.#answer = renewed ?? (PairAnswer.isPossibleOf(this.#watches) ? this.#compose() : undefined);
    }
    return this.#answer;
  }

  /** Runs `search`; callers share its answer. @throws TradewireError UPSTREAM_ERROR, STATE_STALE */
  readBySearch(search: (pair: WatchedPair) => Promise<void>): Promise<PairMarkets> {
    return this.#share(search(this));
  }

  /** Reads the accounts its markets lack; callers share the answer. @throws TradewireError UPSTREAM_ERROR, STATE_STALE */
  readMissing(): Promise<PairMarkets> {
    return this.#share(completeWatches(this.#watches));
  }

  /**
   * Reads the accounts whose state is from before a landed transaction that has written them; callers share the answer. Undefined if there
   * is none. @throws TradewireError STATE_STALE
   */
  readWritten(): Promise<PairMarkets> | undefined {
    const late = this.#catchUp();
    return late && this.#share(late, true);
  }

  #catchUp(): Promise<void> | undefined {
    return this.#context.live.catchUp(this.#watches.flatMap(({ held }) => [...held]));
  }

  /** True while `readWritten` reads. */
  get isReadingWritten(): boolean {
    return this.#reads !== undefined && this.#isLate;
  }

  /** True if `readWritten` has read in vain lately. */
  hasMissed(atMs: number): boolean {
    return atMs < this.#missedUntilMs;
  }

  #share(reading: Promise<void>, isLate = false): Promise<PairMarkets> {
    // Trades that have landed during a search count too.
    const current = isLate ? reading : reading.then(() => this.#catchUp());
    const reads = current.then(() => {
      const answer = this.#compose();
      this.#answer = answer;
      this.#forgetChanges();
      this.#freshUntilMs = undefined;
      this.assertFresh(this.#context.now());
      return answer;
    });
    this.#reads = reads;
    this.#isLate = isLate;
    const done = () => {
      if (this.#reads === reads) this.#reads = undefined;
    };
    reads.then(done, () => {
      if (isLate) this.#missedUntilMs = this.#context.now() + MISSED_MS;
      done();
    });
    return reads;
  }

  /** Searches again in the background; a failure is passed to `onError`, and the search is due again soon. */
  research(search: (pair: WatchedPair) => Promise<void>, onError: (error: unknown) => void): void {
    this.#isResearching = true;
    search(this)
      .catch((error: unknown) => {
        onError(error);
        this.schedule.fail(this.#context.now());
      })
      .finally(() => {
        this.#isResearching = false;
      });
  }

  /** Takes over the result of a search: releases closed and dropped markets, and schedules the next search. */
  accept({ added, dropped, faults, searched, isComplete, firstAtMs, searchedAtMs }: PairFindings): void {
    const kept = this.#watches.filter((watch) => {
      const reading = watch.read();
      const isGone = dropped.has(watch) || (reading.kind === "fault" && reading.closed);
      if (isGone) watch.release();
      return !isGone;
    });
    const wasEmpty = this.isEmpty;
    const watches = kept.concat(notAmong(kept, added));
    this.#watches = watches.length === 0 ? NONE : watches;
    if (wasEmpty && !this.isEmpty) this.#context.onFilled();
    const passedOver = this.passedOver.faults();
    this.#searchFaults = passedOver.length === 0 ? faults : [...faults, ...passedOver];
    this.#searched = searched;
    if (added.length > 0) this.schedule.clearDoubts();
    this.schedule.end(this.#context.now(), { isEmpty: this.isEmpty, isComplete, firstAtMs, searchedAtMs });
    this.#answer = undefined;
    this.#forgetChanges();
    this.#freshUntilMs = undefined;
  }

  /** An account behind a market has changed, or what is thought of it. */
  invalidate(watch: MarketWatch): void {
    if (this.#answer === undefined) return;
    if (this.#changed === NONE) this.#changed = [watch];
    else if (!this.#changed.includes(watch)) this.#changed.push(watch);
  }

  /** A changed market's bound was computed: until it changes again, the next answer need not look at it. */
  followed(watch: MarketWatch, hot: HotMarket, spot: SpotBound): void {
    const answer = this.#answer;
    const place = answer?.placeOf(watch) ?? -1;
    if (answer === undefined || place < 0) return;
    const next = this.#next ?? answer.copyMarkets();
    this.#next = next;
    next.putBound(place, hot, spot, hot.market.mints[0] === this.pair.a);
    const changed = this.#changed;
    const at = changed.indexOf(watch);
    if (at < 0) return;
    const last = changed.pop()!;
    if (last !== watch) changed[at] = last;
    else if (at === 0) this.#changed = NONE;
  }

  #forgetChanges(): void {
    this.#changed = NONE;
    this.#next = undefined;
  }

  /** Releases all its markets. */
  release(): void {
    for (const watch of this.#watches) watch.release();
    this.#watches = NONE;
  }

  isFresh(atMs: number): boolean {
    return this.#contestedMarket() === undefined && this.#staleAgeMs(atMs) === 0;
  }

  /** @throws TradewireError STATE_STALE if its accounts are too old, or the nodes contradict each other about one of them */
  assertFresh(atMs: number): void {
    const contested = this.#contestedMarket();
    if (contested !== undefined) throw contestedState(contested);
    const ageMs = this.#staleAgeMs(atMs);
    if (ageMs > 0) throw ageMs === atMs ? lateState() : staleState(ageMs);
  }

  /**
   * Age of the oldest account, or of the chain's head; 0 if fresh. Milliseconds. Each look at the accounts reports them to the
   * source as used.
   */
  #staleAgeMs(atMs: number): number {
    const { live, head, maxAgeMs } = this.#context;
    const headAgeMs = head.slotAgeMs();
    if (headAgeMs > maxAgeMs) return headAgeMs;
    const { setbacks } = live;
    const freshUntilMs = this.#setbacks === setbacks ? this.#freshUntilMs : undefined;
    if (freshUntilMs !== undefined && sinceStart(atMs) < freshUntilMs) return 0;
    let oldestMs = Number.POSITIVE_INFINITY;
    for (const watch of this.#watches) {
      live.use(watch.held);
      oldestMs = Math.min(oldestMs, watch.currentAtMs);
    }
    if (oldestMs + maxAgeMs < atMs) return atMs - oldestMs;
    this.#freshUntilMs = sinceStart(Math.min(oldestMs, atMs) + maxAgeMs);
    this.#setbacks = setbacks;
    return 0;
  }

  #contestedMarket(): MarketWatch | undefined {
    return contestedAmong(this.#watches, this.#context.live.contested());
  }

  #compose(): PairAnswer {
    return PairAnswer.of(this.#watches, {
      faults: this.#searchFaults,
      searched: this.#searched,
      line: this.#line,
      onClosed: () => this.schedule.hasten(this.#context.now()),
    });
  }
}

/** The watches of further markets; releases the others, which a search that ran at the same time has found too. */
function notAmong(kept: readonly MarketWatch[], added: readonly MarketWatch[]): readonly MarketWatch[] {
  const known = new Set(kept.map(({ address }) => address));
  return added.filter((watch) => {
    if (!known.has(watch.address)) return true;
    watch.release();
    return false;
  });
}
