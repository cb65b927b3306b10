import type { AccountReader, StateSource } from "../chain/port.ts";
import type { Address } from "../primitives/address.ts";
import type { Now } from "../primitives/clock.ts";
import { background } from "../primitives/turns/background.ts";
import type { ChainClock } from "../solana/account.ts";
import { HUB_MINTS } from "../solana/hub-mints.ts";
import type { MintPair, Venue } from "../venues/venue.ts";
import { FoundHubs } from "./hubs/found-hubs.ts";
import { Neighbours } from "./hubs/neighbours.ts";
import { OpenHubs } from "./hubs/open-hubs.ts";
import { LiveAccounts } from "./live-accounts.ts";
import { LivePairs } from "./live-pairs.ts";
import { type MarketJudge, NO_JUDGE } from "./market-judge.ts";
import type { Markets, SearchCaller } from "./port.ts";
import { ReadAhead } from "./read-ahead.ts";
import { type MarketIndex, NO_INDEX } from "./search/market-index.ts";
import { MintProofs } from "./search/mints/mint-proofs.ts";
import { PairCoverages } from "./search/pair-coverage.ts";
import { PairSearch, type SearchOutcome } from "./search/pair-search.ts";
import { watchSearchOutages } from "./search/search-outage.ts";
import { DEFAULT_SEARCH_BUDGET, type SearchBudget, SearchTurns } from "./search/search-turns.ts";
import { SubjectSearches } from "./search/subject-search.ts";
import { SingleAccounts } from "./single-accounts.ts";
import { sinceStart } from "./watch/since-start.ts";
import type { WatchedPair } from "./watched-pair.ts";
import { WatchedPairs } from "./watched-pairs.ts";

/** The markets with what only the composition root and metrics use. */
export interface LiveMarkets extends Markets {
  /** Number of pairs and accounts kept live, for metrics. */
  size(): { readonly pairs: number; readonly accounts: number };
  /** The state of each venue, in the order they were given. */
  report(): readonly VenueReport[];
  /** Reports accounts that a landed transaction has written, and its slot: nothing is built on their state from before it. */
  noteWritten(addresses: readonly Address[], slot: bigint): void;
  close(): void;
}

/** The state of one venue. */
export interface VenueReport {
  readonly id: string;
  /** Number of its markets that are kept live. */
  readonly markets: number;
  /** Its last search; undefined before the first. */
  readonly lastSearch: SearchOutcome | undefined;
}

/** Durations are in milliseconds. */
export interface MarketsOptions {
  readonly reader: AccountReader;
  /** See `MintProofs`. */
  readonly another?: ((node: number) => Pick<AccountReader, "fetchAccounts"> | undefined) | undefined;
  readonly source: StateSource;
  readonly head: { slotAgeMs(): number; clock(): ChainClock };
  readonly venues: readonly Venue[];
  /** Checks live markets on the deployed programs; absent: none is checked. */
  readonly judge?: MarketJudge | undefined;
  /** Markets found before; absent: none are known. */
  readonly index?: MarketIndex | undefined;
  /** How many cold searches are made; absent: the defaults. */
  readonly searchBudget?: SearchBudget | undefined;
  /** The network of a caller's address, which shares its budget; absent: the address itself. */
  readonly networkOf?: ((address: string) => string) | undefined;
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** State older than this is not used. */
  readonly maxAgeMs?: number;
  /** How long "no market" holds, and a failed search is not repeated. */
  readonly negativeMs?: number;
  /** How often a pair in use is searched again, in the background, for new markets. */
  readonly researchMs?: number;
  /** Minimum time between two such searches, of any pairs: each costs tens of milliseconds and a dozen calls. */
  readonly researchPaceMs?: number;
  /** Pairs, mints and wallet accounts unused for this long are dropped. */
  readonly idleMs?: number;
  /** Upper bound of pairs kept hot; the least recently used are dropped first. */
  readonly maxPairs?: number;
  /** Upper bound of single accounts (mints, wallet accounts) kept hot; the least recently used are dropped first. */
  readonly maxSingles?: number;
  /** Mints that a trade may pass through between two markets; if undefined, SOL, USDC and mints found to be deep. */
  readonly hubMints?: readonly Address[] | undefined;
  /** Upper bound of markets kept hot for one pair: the best of those found. */
  readonly maxMarketsPerPair?: number;
  /** Markets of one pair that one search compares to find the best; the next searches, soon after, compare the rest. */
  readonly maxFound?: number;
}

const DEFAULT_MAX_AGE_MS = 2_000;
const DEFAULT_NEGATIVE_MS = 5_000;
/** How long "no such mint" holds without another read. Milliseconds. */
const ABSENT_MS = 1_000;
const DEFAULT_RESEARCH_MS = 60_000;
const DEFAULT_RESEARCH_PACE_MS = 500;
const DEFAULT_IDLE_MS = 600_000;
/** A traded token has two or three pairs: with SOL and with each hub. Most have no market and cost little. */
const DEFAULT_MAX_PAIRS = 40_000;
const DEFAULT_MAX_SINGLES = 60_000;
const DEFAULT_MAX_MARKETS_PER_PAIR = 64;
const DEFAULT_MAX_FOUND = 2_500;
const SWEEP_MS = 1_000;

/** How much is kept, and for how long; see `MarketsOptions`. */
type MarketsBounds = ReturnType<typeof boundsOf>;

/** The bounds of the options, and the defaults of those that are absent. */
function boundsOf(options: MarketsOptions) {
  return {
    maxAgeMs: options.maxAgeMs ?? DEFAULT_MAX_AGE_MS,
    negativeMs: options.negativeMs ?? DEFAULT_NEGATIVE_MS,
    researchMs: options.researchMs ?? DEFAULT_RESEARCH_MS,
    researchPaceMs: options.researchPaceMs ?? DEFAULT_RESEARCH_PACE_MS,
    idleMs: options.idleMs ?? DEFAULT_IDLE_MS,
    maxPairs: options.maxPairs ?? DEFAULT_MAX_PAIRS,
    maxSingles: options.maxSingles ?? DEFAULT_MAX_SINGLES,
    maxMarketsPerPair: options.maxMarketsPerPair ?? DEFAULT_MAX_MARKETS_PER_PAIR,
    maxFound: options.maxFound ?? DEFAULT_MAX_FOUND,
  };
}

/** The markets of any pair, found on first use and kept live afterwards. */
export function createMarkets(options: MarketsOptions): LiveMarkets {
  const { head, venues, now, hubMints } = options;
  const bounds = boundsOf(options);
  const held = holdAccounts(options, bounds);
  const { live, pairs, singles } = held;
  let isClosed = false;
  const neighbours = new Neighbours();
  const searching = searchPairs(options, bounds, {
    live,
    neighbours,
    hubsIn: (pair) => hubMints ?? found.hubsIn(pair),
    isWanted: (pair) => !isClosed && pairs.has(pair),
  });
  const { search, warn } = searching;
  const ahead = new ReadAhead(singles, pairs);
  const livePairs = new LivePairs({ pairs, search, now, warn, researchPaceMs: bounds.researchPaceMs });

  const marketsOf = (pair: MintPair, caller?: SearchCaller) => livePairs.marketsOf(pair, caller);
  const mint = (address: Address, caller?: SearchCaller) => singles.mint(address, caller);
  const found = new FoundHubs({ neighbours, markets: { marketsOf, mint }, clock: () => head.clock(), now });
  const choosesHubs = hubMints === undefined;
  const knownMarkets = (pair: MintPair, caller?: SearchCaller) => livePairs.knownMarkets(pair, caller);
  const open = new OpenHubs({ pairs, found, knownMarkets });
  const sweeping = sweepUnused(held, bounds, now);

  return {
    hubMints: hubMints ?? HUB_MINTS,
    ...(choosesHubs
      ? { hubsOf: (pair) => open.hubsOf(pair), findHubs: (pair, caller) => found.find(pair, caller) }
      : {}),
    marketsOf,
    knownMarkets,
    searchSoon: (pair) => livePairs.searchSoon(pair),
    mint,
    readAhead: (pair, wallet) => ahead.read(pair, wallet),
    account: (address) => singles.account(address),
    warm: (addresses, mayWait) => singles.warm(addresses, mayWait),
    refresh: (addresses) => singles.refresh(addresses),
    noteWritten: (addresses, slot) => live.noteWritten(addresses, slot),
    size: () => ({ pairs: pairs.size(), accounts: live.size() }),
    report: () => reportOf(venues, pairs, search),
    close() {
      isClosed = true;
      clearInterval(sweeping);
      pairs.close();
      singles.close();
      searching.turns.close();
      held.proofs.close();
    },
  };
}

/** What is kept live: accounts, and the pairs, mints and wallet accounts that need them. */
type HeldParts = ReturnType<typeof holdAccounts>;

function holdAccounts(options: MarketsOptions, bounds: MarketsBounds) {
  const { source, reader, another, head, now, networkOf = itself } = options;
  const { maxAgeMs, negativeMs, researchMs, idleMs, maxSingles } = bounds;
  const live = new LiveAccounts(source);
  const pairs = new WatchedPairs({ live, head, now, maxAgeMs, pace: { negativeMs, researchMs } });
  const proofs = new MintProofs({ reader, another, pace: background, now, networkOf, negativeMs: ABSENT_MS });
  const singles = new SingleAccounts({ live, reader, proofs, now, maxAgeMs, idleMs, negativeMs, maxSingles });
  return { live, pairs, proofs, singles };
}

/** What searches need of what is kept live. */
interface SearchedParts extends Pick<ConstructorParameters<typeof PairCoverages>[0], "neighbours" | "hubsIn"> {
  readonly live: LiveAccounts;
  readonly isWanted: (pair: WatchedPair) => boolean;
}

/** Searches for the markets of pairs, in turns. An outage of the nodes is logged once, however many searches meet it. */
function searchPairs(options: MarketsOptions, bounds: MarketsBounds, parts: SearchedParts) {
  const { venues, head, now, judge = NO_JUDGE, index = NO_INDEX, networkOf = itself } = options;
  const { live, neighbours, hubsIn, isWanted } = parts;
  const { maxAgeMs, maxMarketsPerPair, maxFound } = bounds;
  const { reader, warn } = watchSearchOutages(options.reader, options.warn);
  const turns = new SearchTurns({ budget: options.searchBudget ?? DEFAULT_SEARCH_BUDGET, now, networkOf });
  const searches = new SubjectSearches({ reader, venues, turns, pace: background, now });
  const coverages = new PairCoverages({ index, searches, venues, hubsIn, neighbours, pace: background, now });
  const search = new PairSearch({
    reader,
    coverages,
    searches,
    pace: background,
    index,
    live,
    judge,
    head,
    venues,
    now,
    warn,
    isWanted,
    maxAgeMs,
    maxMarketsPerPair,
    maxFound,
  });
  return { search, turns, warn };
}

/** Drops what nobody uses, every second. @returns the timer, which stops it */
function sweepUnused({ pairs, singles }: HeldParts, bounds: MarketsBounds, now: Now): NodeJS.Timeout {
  const { idleMs, researchMs, maxPairs } = bounds;
  return setInterval(() => {
    const atMs = sinceStart(now());
    pairs.sweep({ idleSinceMs: atMs - idleMs, emptySinceMs: atMs - 2 * researchMs, maxPairs });
    singles.sweep();
  }, SWEEP_MS);
}

function reportOf(venues: readonly Venue[], pairs: WatchedPairs, search: PairSearch): readonly VenueReport[] {
  const counts = new Map<string, number>();
  for (const { watches } of pairs.all())
    for (const { venue } of watches) counts.set(venue.id, (counts.get(venue.id) ?? 0) + 1);
  return venues.map(({ id }) => ({ id, markets: counts.get(id) ?? 0, lastSearch: search.lastOutcome(id) }));
}

const itself = (address: string): string => address;
