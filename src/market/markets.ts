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
import { WatchedPairs } from "./watched-pairs.ts";

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

/** The markets of any pair, found on first use and kept live afterwards. */
export function createMarkets({
  reader,
  another,
  source,
  head,
  venues,
  judge = NO_JUDGE,
  index = NO_INDEX,
  searchBudget = DEFAULT_SEARCH_BUDGET,
  networkOf = (address) => address,
  now,
  warn,
  maxAgeMs = DEFAULT_MAX_AGE_MS,
  negativeMs = DEFAULT_NEGATIVE_MS,
  researchMs = DEFAULT_RESEARCH_MS,
  researchPaceMs = DEFAULT_RESEARCH_PACE_MS,
  idleMs = DEFAULT_IDLE_MS,
  maxPairs = DEFAULT_MAX_PAIRS,
  maxSingles = DEFAULT_MAX_SINGLES,
  hubMints,
  maxMarketsPerPair = DEFAULT_MAX_MARKETS_PER_PAIR,
  maxFound = DEFAULT_MAX_FOUND,
}: MarketsOptions): LiveMarkets {
  const live = new LiveAccounts(source);
  const pairs = new WatchedPairs({ live, head, now, maxAgeMs, pace: { negativeMs, researchMs } });
  const proofs = new MintProofs({ reader, another, pace: background, now, networkOf, negativeMs: ABSENT_MS });
  const singles = new SingleAccounts({ live, reader, proofs, now, maxAgeMs, idleMs, negativeMs, maxSingles });
  let closed = false;
  const outage = watchSearchOutages(reader, warn);
  const turns = new SearchTurns({ budget: searchBudget, now, networkOf });
  const searches = new SubjectSearches({ reader: outage.reader, venues, turns, pace: background, now });
  const neighbours = new Neighbours();
  const hubsIn = (pair: MintPair) => hubMints ?? found.hubsIn(pair);
  const coverages = new PairCoverages({ index, searches, venues, hubsIn, neighbours, pace: background, now });
  const search = new PairSearch({
    reader: outage.reader,
    coverages,
    searches,
    pace: background,
    index,
    live,
    judge,
    head,
    venues,
    now,
    warn: outage.warn,
    isWanted: (pair) => !closed && pairs.has(pair),
    maxAgeMs,
    maxMarketsPerPair,
    maxFound,
  });
  const ahead = new ReadAhead(singles, pairs);
  const livePairs = new LivePairs({ pairs, search, now, warn: outage.warn, researchPaceMs });

  const marketsOf = (pair: MintPair, caller?: SearchCaller) => livePairs.marketsOf(pair, caller);
  const mint = (address: Address, caller?: SearchCaller) => singles.mint(address, caller);
  const found = new FoundHubs({ neighbours, markets: { marketsOf, mint }, clock: () => head.clock(), now });
  const choosesHubs = hubMints === undefined;
  const knownMarkets = (pair: MintPair, caller?: SearchCaller) => livePairs.knownMarkets(pair, caller);
  const open = new OpenHubs({ pairs, found, knownMarkets });

  const sweeper = setInterval(() => {
    const atMs = sinceStart(now());
    pairs.sweep({ idleSinceMs: atMs - idleMs, emptySinceMs: atMs - 2 * researchMs, maxPairs });
    singles.sweep();
  }, SWEEP_MS);

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
    report() {
      const counts = new Map<string, number>();
      for (const { watches } of pairs.all())
        for (const { venue } of watches) counts.set(venue.id, (counts.get(venue.id) ?? 0) + 1);
      return venues.map(({ id }) => ({ id, markets: counts.get(id) ?? 0, lastSearch: search.lastOutcome(id) }));
    },
    close() {
      closed = true;
      clearInterval(sweeper);
      pairs.close();
      singles.close();
      turns.close();
      proofs.close();
    },
  };
}
