import type { AccountReader, StateSource } from "../chain/port.ts";
import type { Now } from "../primitives/clock.ts";
import type { ChainClock } from "../solana/account.ts";
import type { MintPair, Venue } from "../venues/venue.ts";
import { leastUsed } from "./least-used.ts";
import { createLiveAccounts } from "./live-accounts.ts";
import { completeWatches } from "./market-watch.ts";
import { finalAnswer, wholeAnswer } from "./pair-answer.ts";
import { createPairFreshness } from "./pair-freshness.ts";
import { createPairSearch, type SearchOutcome } from "./pair-search.ts";
import type { Markets, PairMarkets } from "./port.ts";
import { createSingleAccounts } from "./single-accounts.ts";
import { type WatchedPair, WatchedPairs } from "./watched-pairs.ts";

export interface LiveMarkets extends Markets {
  /** How much is kept live, for metrics. */
  size(): { readonly pairs: number; readonly accounts: number };
  /** How each venue is doing, in the order they were given. */
  report(): readonly VenueReport[];
  close(): void;
}

/** What is known of one venue. */
export interface VenueReport {
  readonly id: string;
  /** Its markets that are kept live now. */
  readonly markets: number;
  /** The last search of it for markets; undefined before the first. */
  readonly lastSearch: SearchOutcome | undefined;
}

export interface MarketsOptions {
  readonly reader: AccountReader;
  readonly source: StateSource;
  readonly head: { slotAgeMs(): number; clock(): ChainClock };
  readonly venues: readonly Venue[];
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** No state older than this is answered. */
  readonly maxAgeMs?: number;
  /** How long "no market" is believed, and a failed search is left alone. */
  readonly negativeMs?: number;
  /** How often a pair in use is searched again, in the background, for new markets. */
  readonly researchMs?: number;
  /** Least time between two such searches of whatever pairs: each costs tens of milliseconds and a dozen calls. */
  readonly researchPaceMs?: number;
  /** Pairs, mints and wallet accounts not asked for during this time cool down. */
  readonly idleMs?: number;
  /** Pairs kept hot at most; the longest unused go first. */
  readonly maxPairs?: number;
  /** Single accounts (mints, wallet accounts) kept hot at most; the longest unused go first. */
  readonly maxSingles?: number;
  /** Markets of one pair kept hot: the best of those found. */
  readonly maxMarketsPerPair?: number;
  /** Markets of one pair that are looked at to find the best. */
  readonly maxFound?: number;
  /** How long a market that was not among the best is left alone. */
  readonly reexamineMs?: number;
  readonly sweepMs?: number;
}

const DEFAULT_MAX_AGE_MS = 2_000;
const DEFAULT_NEGATIVE_MS = 5_000;
const DEFAULT_RESEARCH_MS = 60_000;
/** A pair that nobody can trade, as when its curve has completed, is searched again this long after the last search. */
const DOUBT_MS = 1_000;
const DEFAULT_RESEARCH_PACE_MS = 500;
const DEFAULT_IDLE_MS = 600_000;
/** A token that is traded has two pairs or three: with SOL and with each hub, most of which have no market and cost little. */
const DEFAULT_MAX_PAIRS = 40_000;
const DEFAULT_MAX_SINGLES = 60_000;
const DEFAULT_MAX_MARKETS_PER_PAIR = 64;
const DEFAULT_MAX_FOUND = 2_500;
const DEFAULT_REEXAMINE_MS = 600_000;
const DEFAULT_SWEEP_MS = 1_000;

/** The markets of any pair, found on first use and live from then on. */
export function createMarkets({
  reader,
  source,
  head,
  venues,
  now,
  warn,
  maxAgeMs = DEFAULT_MAX_AGE_MS,
  negativeMs = DEFAULT_NEGATIVE_MS,
  researchMs = DEFAULT_RESEARCH_MS,
  researchPaceMs = DEFAULT_RESEARCH_PACE_MS,
  idleMs = DEFAULT_IDLE_MS,
  maxPairs = DEFAULT_MAX_PAIRS,
  maxSingles = DEFAULT_MAX_SINGLES,
  maxMarketsPerPair = DEFAULT_MAX_MARKETS_PER_PAIR,
  maxFound = DEFAULT_MAX_FOUND,
  reexamineMs = DEFAULT_REEXAMINE_MS,
  sweepMs = DEFAULT_SWEEP_MS,
}: MarketsOptions): LiveMarkets {
  const live = createLiveAccounts(source);
  const pairs = new WatchedPairs(now);
  const singles = createSingleAccounts({ live, now, maxAgeMs, idleMs, negativeMs, maxSingles });
  const { assertFresh, isFresh } = createPairFreshness({ live, head, now, maxAgeMs });
  let closed = false;
  let researchedAtMs = Number.NEGATIVE_INFINITY;
  const { search, lastOutcome } = createPairSearch({
    reader,
    live,
    head,
    venues,
    now,
    warn,
    isWanted: (entry) => !closed && pairs.has(entry),
    maxAgeMs,
    negativeMs,
    researchMs,
    reexamineMs,
    maxMarketsPerPair,
    maxFound,
  });

  /** Runs the reads once for everybody who asks while they are under way. */
  function share(entry: WatchedPair, reads: () => Promise<void>): Promise<PairMarkets> {
    const work = reads().then(() => {
      const answer = finalAnswer(entry);
      entry.answer = answer;
      entry.freshUntilMs = 0;
      assertFresh(entry);
      return answer;
    });
    entry.work = work;
    const done = () => {
      if (entry.work === work) entry.work = undefined;
    };
    work.then(done, done);
    return work;
  }

  /** Searches the pair again in the background, unless another was just searched: then a later caller's turn will do. */
  function research(entry: WatchedPair): void {
    if (entry.researching || researchedAtMs + researchPaceMs > now()) return;
    researchedAtMs = now();
    entry.researching = true;
    search(entry)
      .catch((error) => {
        warn(`Searching again for markets of ${entry.pair.a} and ${entry.pair.b} failed: ${String(error)}`);
        entry.searchAgainAtMs = now() + negativeMs;
      })
      .finally(() => {
        entry.researching = false;
      });
  }

  function marketsOf({ a, b }: MintPair): PairMarkets | Promise<PairMarkets> {
    const entry = pairs.of(a, b);
    const atMs = now();
    entry.lastUsedMs = atMs;
    if (entry.work !== undefined) return entry.work;
    if (entry.searchAgainAtMs === undefined) return share(entry, () => search(entry));
    if (atMs > entry.searchAgainAtMs && !entry.researching) {
      if (entry.watches.length === 0) return share(entry, () => search(entry));
      research(entry);
    }
    if (entry.answer === undefined) {
      entry.answer = wholeAnswer(entry);
      entry.freshUntilMs = 0;
      if (entry.answer === undefined) return share(entry, () => completeWatches(entry.watches));
    }
    assertFresh(entry);
    return entry.answer;
  }

  function knownMarkets({ a, b }: MintPair): PairMarkets | undefined {
    const entry = pairs.of(a, b);
    const atMs = now();
    entry.lastUsedMs = atMs;
    if (entry.work !== undefined) return undefined;
    if (entry.searchAgainAtMs === undefined) {
      share(entry, () => search(entry));
      return undefined;
    }
    // Nobody waits for these: where there is no market, it is looked for less often.
    if (atMs > entry.searchAgainAtMs + (entry.watches.length === 0 ? researchMs : 0)) research(entry);
    if (entry.answer === undefined) {
      entry.answer = wholeAnswer(entry);
      entry.freshUntilMs = 0;
      if (entry.answer === undefined) {
        share(entry, () => completeWatches(entry.watches));
        return undefined;
      }
    }
    return isFresh(entry) ? entry.answer : undefined;
  }

  function searchSoon({ a, b }: MintPair): void {
    const entry = pairs.of(a, b);
    if (entry.work !== undefined || entry.researching || entry.searchAgainAtMs === undefined) return;
    if (now() >= entry.searchedAtMs + DOUBT_MS) research(entry);
  }

  function sweepPairs(): void {
    const idleSinceMs = now() - idleMs;
    const emptySinceMs = now() - 2 * researchMs;
    const kept: WatchedPair[] = [];
    for (const entry of pairs.all()) {
      if (entry.work !== undefined || entry.researching) continue;
      if (entry.lastUsedMs < (entry.watches.length === 0 ? emptySinceMs : idleSinceMs)) pairs.drop(entry);
      else kept.push(entry);
    }
    for (const entry of leastUsed(kept, maxPairs)) pairs.drop(entry);
  }

  const sweeper = setInterval(() => {
    sweepPairs();
    singles.sweep();
  }, sweepMs);

  return {
    marketsOf,
    knownMarkets,
    searchSoon,
    mint: singles.mint,
    account: singles.account,
    warm: singles.warm,
    refresh: singles.refresh,
    size: () => ({ pairs: pairs.size(), accounts: live.size() }),
    report() {
      const counts = new Map<string, number>();
      for (const { watches } of pairs.all())
        for (const { venue } of watches) counts.set(venue.id, (counts.get(venue.id) ?? 0) + 1);
      return venues.map(({ id }) => ({ id, markets: counts.get(id) ?? 0, lastSearch: lastOutcome(id) }));
    },
    close() {
      closed = true;
      clearInterval(sweeper);
    },
  };
}
