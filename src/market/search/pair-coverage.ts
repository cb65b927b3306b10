import { type Address, compareAddresses } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import type { OneATurn } from "../../primitives/turns/one-a-turn.ts";
import type { MintPair, Venue } from "../../venues/venue.ts";
import type { Neighbours } from "../hubs/neighbours.ts";
import type { SearchCaller } from "../port.ts";
import { DECODED_AT_ONCE, type FoundMarket, type KnownMarkets } from "./discovery.ts";
import type { IndexEntry, IndexedMarket, MarketIndex } from "./market-index.ts";
import { type SearchSubject, subjectsOf } from "./search-subject.ts";
import type { BegunSearch, SubjectFindings, SubjectSearches } from "./subject-search.ts";

/** The known markets of a pair, and when the chain was searched for them (epoch milliseconds). */
export interface PairCoverage extends KnownMarkets {
  /** The first known search of the chain for this pair, by any process. */
  readonly firstAtMs: number;
  /** The last one. */
  readonly atMs: number;
}

interface PairCoveragesOptions {
  readonly index: MarketIndex;
  readonly searches: SubjectSearches;
  readonly venues: readonly Venue[];
  /** Mints of a pair whose other markets its search may leave out. */
  readonly hubsIn: (pair: MintPair) => readonly Address[];
  /** Receives which mints a mint trades against. */
  readonly neighbours: Pick<Neighbours, "note">;
  /** Gives the storing of each search a turn of the loop. */
  readonly pace: OneATurn;
  readonly now: Now;
}

/** How a pair must be covered. */
export interface CoverageQuery {
  readonly caller: SearchCaller | undefined;
  /** A search older than this is repeated. Epoch milliseconds; 0: any will do. */
  readonly sinceMs: number;
}

type Entries = ReadonlyMap<string, IndexEntry>;

/** How long an answer of the index serves other callers. Milliseconds. */
const KEEP_MS = 2_000;
/** How long a mint counts as having no market at all: its first may open at any moment. Milliseconds. */
const NONE_HOLDS_MS = 60_000;
/** Markets of one subject that are kept. */
const MAX_KEPT = 5_000;
const NOTHING: Entries = new Map();

/** Covers pairs from the index if it can, else by searching the chain, and keeps in the index what was found. */
export class PairCoverages {
  readonly #options: PairCoveragesOptions;
  readonly #lookUps = new Map<string, { readonly entries: Promise<Entries>; readonly atMs: number }>();
  readonly #venueIds: readonly string[];
  /** Searches whose findings will be stored when they end. */
  readonly #noted = new WeakSet<BegunSearch>();

  constructor(options: PairCoveragesOptions) {
    this.#options = options;
    this.#venueIds = options.venues.map(({ id }) => id);
  }

  /** @throws TradewireError RATE_LIMIT_EXCEEDED, OVERLOADED if a search is needed and its turn would come too late */
  async cover(pair: MintPair, { caller, sinceMs }: CoverageQuery): Promise<PairCoverage> {
    const { now } = this.#options;
    const subjects = subjectsOf(pair, this.#options.hubsIn(pair));
    const entries = await this.#lookUp(pair, subjects, sinceMs === 0);
    for (const { key, mint } of subjects) {
      const known = entries.get(key)?.markets ?? [];
      if (mint !== undefined && known.length > 0) this.#options.neighbours.note(mint, known);
    }
    const covering = this.#covering(pair, subjects, entries, sinceMs);
    const indexed = marketsOf(pair, entries);
    if (covering !== undefined) {
      const firstAtMs = Math.min(...covering.map((one) => one.firstAtMs));
      return { indexed, searches: [], firstAtMs, atMs: Math.min(...covering.map((one) => one.atMs)) };
    }
    const missing = subjects.filter(({ key }) => !this.#isSearched(entries.get(key), sinceMs));
    const searches = await Promise.all(missing.map((subject) => this.#begin(subject, caller)));
    const firsts = subjects.map(({ key }) => entries.get(key)?.searched?.firstAtMs ?? now());
    return { indexed: sinceMs === 0 ? indexed : [], searches, firstAtMs: Math.min(...firsts), atMs: now() };
  }

  /** Notes a complete search of the pair if those of its mints were not: a node may refuse filters, or an answer be too large. */
  notePair(pair: MintPair, found: readonly FoundMarket[], atMs: number): void {
    const markets = found.map(({ venue, market }) => ({
      venue: venue.id,
      address: market.address,
      mints: market.mints,
    }));
    this.#options.index.add(keyOf(pair), markets, { venues: this.#venueIds, atMs });
  }

  /** The searches that together cover the pair; undefined if there are none, or too old ones. */
  #covering(pair: MintPair, subjects: readonly SearchSubject[], entries: Entries, sinceMs: number) {
    const own = entries.get(keyOf(pair));
    const isTraded = hasMarkets(own) || subjects.every(({ key }) => hasMarkets(entries.get(key)));
    if (this.#isSearched(own, sinceMs, isTraded)) return [own!.searched!];
    const searched = subjects.map(({ key }) => entries.get(key));
    if (!searched.every((entry) => this.#isSearched(entry, sinceMs))) return undefined;
    return searched.map((entry) => entry!.searched!);
  }

  /** @param isTraded false if no market of one of its mints is known: only a search that is not old shows that there is none */
  #isSearched(entry: IndexEntry | undefined, sinceMs: number, isTraded = hasMarkets(entry)): boolean {
    const searched = entry?.searched;
    const leastMs = isTraded ? sinceMs : Math.max(sinceMs, this.#options.now() - NONE_HOLDS_MS);
    return (
      searched !== undefined && searched.atMs > leastMs && this.#venueIds.every((id) => searched.venues.includes(id))
    );
  }

  #lookUp(pair: MintPair, subjects: readonly SearchSubject[], mayBeKept: boolean): Promise<Entries> {
    const { index, now } = this.#options;
    const key = keyOf(pair);
    const atMs = now();
    for (const [old, kept] of this.#lookUps) {
      if (kept.atMs + KEEP_MS > atMs) break;
      this.#lookUps.delete(old);
    }
    const kept = this.#lookUps.get(key);
    if (mayBeKept && kept !== undefined) return kept.entries;
    const entries = index
      .find([...new Set([key, ...subjects.map((one) => one.key)])])
      .then((found) => found ?? NOTHING);
    this.#lookUps.delete(key);
    this.#lookUps.set(key, { entries, atMs });
    return entries;
  }

  async #begin(subject: SearchSubject, caller: SearchCaller | undefined): Promise<BegunSearch> {
    const search = await this.#options.searches.begin(subject, caller);
    // The pairs of a mint, which wait for its turn together, get one search.
    if (!this.#noted.has(search)) {
      this.#noted.add(search);
      search.findings.then(async (findings) => {
        await this.#options.pace.next();
        await this.#keep(subject, findings);
      });
    }
    return search;
  }

  /**
   * Stores the findings of a search. A complete one counts as a search of the subject at the time it was sent: dated by its end, it would
   * replace the next one, which has to show whether an empty answer was one node's lie. With thousands of findings, some get later turns of
   * the loop.
   */
  async #keep(subject: SearchSubject, { byVenue, readAtMs, isWhole }: SubjectFindings): Promise<void> {
    const { venues, index, neighbours, pace } = this.#options;
    const markets: IndexedMarket[] = [];
    const pair = subject.mint === undefined ? subject.pair : { a: subject.mint, b: subject.mint };
    let looked = 0;
    for (const venue of venues) {
      for (const account of byVenue.get(venue.id)?.accounts ?? []) {
        if (++looked % DECODED_AT_ONCE === 0) await pace.next();
        try {
          const market = venue.decode(account, pair);
          if (market !== undefined) markets.push({ venue: venue.id, address: account.address, mints: market.mints });
        } catch {
          // An account that cannot be decoded is not remembered; the pair's search reports why.
        }
      }
    }
    if (subject.mint !== undefined) neighbours.note(subject.mint, markets);
    if (markets.length > MAX_KEPT) return;
    index.add(subject.key, markets, isWhole ? { venues: this.#venueIds, atMs: readAtMs } : undefined);
  }
}

const hasMarkets = (entry: IndexEntry | undefined): boolean => entry !== undefined && entry.markets.length > 0;

/** Names a pair in the index. */
function keyOf({ a, b }: MintPair): string {
  const [low, high] = compareAddresses(a, b) < 0 ? [a, b] : [b, a];
  return `${low}:${high}`;
}

function marketsOf({ a, b }: MintPair, entries: Entries): readonly IndexedMarket[] {
  const found = new Map<Address, IndexedMarket>();
  for (const { markets } of entries.values()) {
    for (const market of markets) {
      const [x, y] = market.mints;
      if ((x === a && y === b) || (x === b && y === a)) found.set(market.address, market);
    }
  }
  return [...found.values()];
}
