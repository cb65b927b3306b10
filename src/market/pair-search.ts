import type { AccountReader } from "../chain/port.ts";
import type { Now } from "../primitives/clock.ts";
import type { AccountView, ChainClock } from "../solana/account.ts";
import type { Venue } from "../venues/venue.ts";
import { discoverMarkets, type FoundMarket } from "./discovery.ts";
import type { LiveAccounts } from "./live-accounts.ts";
import { completeWatches, type MarketWatch, watchMarket } from "./market-watch.ts";
import type { MarketFault } from "./port.ts";
import { chooseBest, type Examined, examineMarkets, neededBy } from "./selection.ts";
import type { WatchedPair } from "./watched-pairs.ts";

/** How a search of one venue went, and when it ended (epoch milliseconds). */
export interface SearchOutcome {
  readonly ok: boolean;
  readonly atMs: number;
}

/** The search for markets of a pair, on every venue. */
interface PairSearch {
  /**
   * Watches the markets that are new, as far as they are among the best, and lets go of those that are closed.
   * @throws TradewireError UPSTREAM_ERROR
   */
  search(pair: WatchedPair): Promise<void>;
  /** The last search that ended; undefined before the first. */
  lastOutcome(venueId: string): SearchOutcome | undefined;
}

interface PairSearchOptions {
  readonly reader: AccountReader;
  readonly live: LiveAccounts;
  readonly head: { clock(): ChainClock };
  readonly venues: readonly Venue[];
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** Asked when a search has ended: false where nobody is there any more to watch its markets for. */
  readonly isWanted: (pair: WatchedPair) => boolean;
  readonly maxAgeMs: number;
  readonly negativeMs: number;
  readonly researchMs: number;
  readonly reexamineMs: number;
  readonly maxMarketsPerPair: number;
  readonly maxFound: number;
}

interface Change {
  readonly added: readonly MarketWatch[];
  readonly dropped: ReadonlySet<MarketWatch>;
}

const NONE: ReadonlySet<MarketWatch> = new Set();

/** Searches pairs and keeps their watches. */
export function createPairSearch({
  reader,
  live,
  head,
  venues,
  now,
  warn,
  isWanted,
  maxAgeMs,
  negativeMs,
  researchMs,
  reexamineMs,
  maxMarketsPerPair,
  maxFound,
}: PairSearchOptions): PairSearch {
  const outcomes = new Map<string, SearchOutcome>();

  async function search(entry: WatchedPair): Promise<void> {
    entry.searchedAtMs = now();
    const discovering = discoverMarkets(entry.pair, { reader, venues, now, warn, maxFound });
    const { found, faults, searched, isComplete } = await discovering.catch((error: unknown) => {
      noteOutcome([]);
      throw error;
    });
    noteOutcome(searched);
    const watched = new Set(entry.watches.map(({ address }) => address));
    const fresh = found.filter(({ account }) => {
      if (watched.has(account.address)) return false;
      const passed = entry.passedOver.get(account.address);
      return passed === undefined || passed.atMs + reexamineMs <= now();
    });
    const isCrowded = watched.size + fresh.length > maxMarketsPerPair;
    const { added, dropped } = isCrowded ? await addBest(entry, fresh) : await addAll(entry, fresh);
    if (!isWanted(entry)) {
      for (const watch of added) watch.release();
      return;
    }
    const kept = entry.watches.filter((watch) => {
      const reading = watch.read();
      const isGone = dropped.has(watch) || (reading.kind === "fault" && reading.closed);
      if (isGone) watch.release();
      return !isGone;
    });
    entry.watches = [...kept, ...added];
    entry.searchFaults = [...faults, ...passedOverFaults(entry)];
    entry.searched = searched;
    entry.partialSearches = isComplete ? 0 : entry.partialSearches + 1;
    entry.searchAgainAtMs = now() + againAfterMs(entry);
    entry.answer = undefined;
  }

  function noteOutcome(searched: readonly string[]): void {
    for (const { id } of venues) outcomes.set(id, { ok: searched.includes(id), atMs: now() });
  }

  /** Soon where nothing was found, or a part failed: less and less soon where it fails again, for searches are what nodes mind most. */
  function againAfterMs({ watches, partialSearches }: WatchedPair): number {
    if (watches.length === 0) return negativeMs;
    return partialSearches === 0 ? researchMs : Math.min(researchMs, negativeMs * 2 ** (partialSearches - 1));
  }

  function watch(entry: WatchedPair, found: FoundMarket): MarketWatch {
    const onChange = () => {
      entry.answer = undefined;
    };
    return watchMarket({ found, live, onChange });
  }

  async function addAll(entry: WatchedPair, found: readonly FoundMarket[]): Promise<Change> {
    const added = found.map((one) => watch(entry, one));
    try {
      await completeWatches(added);
    } catch (error) {
      for (const one of added) one.release();
      throw error;
    }
    return { added, dropped: NONE };
  }

  /** Reads the markets without following them, and watches those that are among the best with those watched already. */
  async function addBest(entry: WatchedPair, found: readonly FoundMarket[]): Promise<Change> {
    const { examined, known } = await examineMarkets(found, { reader, now });
    const hot = entry.watches.flatMap((one) => {
      const reading = one.read();
      return reading.kind === "hot" ? [{ ...reading.hot, watch: one }] : [];
    });
    const view: AccountView = { get: (address) => known.get(address)?.account ?? live.get(address) };
    const chosen = await chooseBest<Examined | (typeof hot)[number]>([...hot, ...examined], {
      pair: entry.pair,
      limit: maxMarketsPerPair,
      clock: head.clock(),
      view,
    });
    const added: MarketWatch[] = [];
    const holds: Promise<void>[] = [];
    const atMs = now();
    for (const { account, venue } of found) entry.passedOver.set(account.address, { venue: venue.id, atMs });
    for (const one of examined) {
      if (!chosen.has(one)) continue;
      const { found: origin } = one;
      entry.passedOver.delete(origin.account.address);
      const created = watch(entry, origin);
      added.push(created);
      holds.push(created.hold([origin.account.address, ...neededBy(one, known)], known));
    }
    try {
      await Promise.all(holds);
      // Reading and pricing very many took its time.
      const isOld = found.some(({ readAtMs }) => readAtMs + maxAgeMs / 2 < now());
      if (isOld) await live.refresh(added.flatMap((one) => [...one.held]));
    } catch (error) {
      for (const one of added) one.release();
      throw error;
    }
    const dropped = new Set<MarketWatch>();
    for (const one of hot) {
      if (chosen.has(one)) continue;
      dropped.add(one.watch);
      entry.passedOver.set(one.market.address, { venue: one.venue.id, atMs });
    }
    return { added, dropped };
  }

  return { search, lastOutcome: (venueId) => outcomes.get(venueId) };
}

/** Says how many markets of each venue are not kept live because others give more. */
function passedOverFaults({ passedOver }: WatchedPair): readonly MarketFault[] {
  const counts = new Map<string, number>();
  for (const { venue } of passedOver.values()) counts.set(venue, (counts.get(venue) ?? 0) + 1);
  return [...counts].map(([venue, count]) => ({
    venue,
    market: undefined,
    reason: `${count} of its markets give less than those kept live, or cannot be traded`,
  }));
}
