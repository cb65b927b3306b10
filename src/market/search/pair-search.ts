import type { AccountReader } from "../../chain/port.ts";
import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import type { OneATurn } from "../../primitives/turns/one-a-turn.ts";
import type { ChainClock } from "../../solana/account.ts";
import type { Venue } from "../../venues/venue.ts";
import { completeWatches } from "../complete-watches.ts";
import type { LiveAccounts } from "../live-accounts.ts";
import type { MarketJudge } from "../market-judge.ts";
import { MarketWatch } from "../market-watch.ts";
import type { MarketFault, SearchCaller } from "../port.ts";
import type { WatchedPair } from "../watched-pair.ts";
import { type Discovery, discoverMarkets, type FoundMarket, type KnownMarkets } from "./discovery.ts";
import type { MarketIndex } from "./market-index.ts";
import type { PairCoverages } from "./pair-coverage.ts";
import { chooseBest, type Examined, examineMarkets, neededBy } from "./selection.ts";
import type { SubjectSearches } from "./subject-search.ts";

/** How a search of one venue went, and when it ended (epoch milliseconds). */
export interface SearchOutcome {
  readonly ok: boolean;
  readonly atMs: number;
}

interface PairSearchOptions {
  readonly reader: AccountReader;
  readonly coverages: PairCoverages;
  readonly searches: SubjectSearches;
  readonly index: MarketIndex;
  readonly live: LiveAccounts;
  readonly judge: MarketJudge;
  readonly head: { clock(): ChainClock };
  readonly venues: readonly Venue[];
  /** Gives pieces of searches turns of the loop. */
  readonly pace: OneATurn;
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** Called after a search: false if the pair was dropped meanwhile. */
  readonly isWanted: (pair: WatchedPair) => boolean;
  /** Older state is not answered. Milliseconds. */
  readonly maxAgeMs: number;
  readonly maxMarketsPerPair: number;
  /** Markets of one pair that one search examines; the next, soon after, goes on with those left. */
  readonly maxFound: number;
}

interface Change {
  readonly added: readonly MarketWatch[];
  readonly dropped: ReadonlySet<MarketWatch>;
}

/** How long a market that was passed over is left alone. Milliseconds. */
const REEXAMINE_MS = 600_000;
/** Longest wait for the first checks of markets. Milliseconds. */
const MAX_JUDGE_WAIT_MS = 300;
/** How long the account by which a market was found serves without another read: a fraction of a slot. Milliseconds. */
const FOUND_HOLDS_MS = 100;
/** Searches over which the markets of one pair are examined; any markets left after that are not. */
const MAX_PAGES = 10;
const NONE: ReadonlySet<MarketWatch> = new Set();
const NOTHING_NEW = { indexed: [], searches: [] } as const;

/** Searches every venue for the markets of a pair, and watches the best of them. */
export class PairSearch {
  readonly #options: PairSearchOptions;
  readonly #outcomes = new Map<string, SearchOutcome>();
  readonly #venueIds: readonly string[];

  constructor(options: PairSearchOptions) {
    this.#options = options;
    this.#venueIds = options.venues.map(({ id }) => id);
  }

  /** The last search of a venue that ended; undefined before the first. */
  lastOutcome(venueId: string): SearchOutcome | undefined {
    return this.#outcomes.get(venueId);
  }

  /**
   * Covers the pair for `search`, in the caller's turn if the chain must be searched.
   * @throws TradewireError RATE_LIMIT_EXCEEDED, OVERLOADED
   */
  async prepare(pair: WatchedPair, caller: SearchCaller | undefined): Promise<void> {
    if (!this.#isLook(pair))
      await this.#options.coverages.cover(pair.pair, { caller, sinceMs: pair.schedule.searchedAtMs });
  }

  /**
   * Watches new markets that are among the best, and releases closed ones. The chain is searched only if neither this process
   * nor another has done so since the pair's last search.
   * @throws TradewireError UPSTREAM_ERROR
   */
  async search(pair: WatchedPair): Promise<void> {
    const { now, pace, judge, isWanted, maxMarketsPerPair, maxFound, coverages, index } = this.#options;
    const beganAtMs = now();
    const isLook = this.#isLook(pair);
    pair.schedule.begin(beganAtMs);
    const coverage = isLook
      ? { ...NOTHING_NEW, firstAtMs: beganAtMs, atMs: pair.schedule.searchedAtMs }
      : await coverages.cover(pair.pair, { caller: undefined, sinceMs: pair.schedule.searchedAtMs });
    // The index may hold an old search: a caller that cannot trade on its findings may request the next search at once.
    if (!isLook && coverage.searches.length === 0) pair.schedule.begin(Math.min(coverage.atMs, beganAtMs));
    const { found, gone, faults, searched, isComplete, isWhole } = await this.#discover(pair, coverage);
    await pace.next();
    if (gone.length > 0) index.remove(gone);
    if (isLook && found.length === 0) {
      pair.schedule.look(now());
      return;
    }
    if (coverage.searches.length > 0) {
      this.#noteOutcome(searched);
      if (isComplete && !isWhole) coverages.notePair(pair.pair, found, coverage.atMs);
    }
    const unseen = this.#freshOf(pair, found);
    const fresh = unseen.slice(0, maxFound);
    const isCrowded = pair.watches.length + fresh.length > maxMarketsPerPair;
    const { added, dropped } = isCrowded ? await this.#addBest(pair, fresh) : await this.#addAll(pair, fresh);
    await this.#refreshOld(found, added);
    // Reading the markets has begun their checks: they get as long as the reads took, and no more.
    for (const watch of added) {
      await pace.next();
      watch.read();
    }
    await judge.settled(added, Math.min(now() - beganAtMs, MAX_JUDGE_WAIT_MS));
    const { firstAtMs, atMs: searchedAtMs } = coverage;
    const left = unseen.length - fresh.length;
    // Pairs keep it: most have the same list.
    const covered = searched.length === this.#venueIds.length ? this.#venueIds : searched;
    const findings = { added, dropped, faults, searched: covered, isComplete, firstAtMs, searchedAtMs };
    if (isWanted(pair)) {
      pair.accept(left === 0 ? findings : { ...findings, faults: [...faults, unexamined(left, found.length)] });
      // Only one node's word that a market is gone: the next search confirms it and finds the replacement.
      if (gone.length > 0 || left > 0) pair.schedule.hasten(now());
    } else for (const watch of added) watch.release();
  }

  #discover(pair: WatchedPair, coverage: KnownMarkets): Promise<Discovery> {
    const options = { ...this.#options, maxFound: this.#options.maxFound * MAX_PAGES };
    return discoverMarkets(pair.pair, coverage, options).catch((error: unknown) => {
      this.#noteOutcome([]);
      throw error;
    });
  }

  /** True if it is enough to read where markets of an empty pair are likely to appear. */
  #isLook(pair: WatchedPair): boolean {
    return pair.schedule.hasSearched && pair.isEmpty && !pair.schedule.isWholeDue(this.#options.now());
  }

  #noteOutcome(searched: readonly string[]): void {
    const { venues, now } = this.#options;
    for (const { id } of venues) this.#outcomes.set(id, { ok: searched.includes(id), atMs: now() });
  }

  /** Markets neither watched nor recently passed over. */
  #freshOf(pair: WatchedPair, found: readonly FoundMarket[]): readonly FoundMarket[] {
    const { now } = this.#options;
    const watched = new Set(pair.watches.map(({ address }) => address));
    pair.passedOver.forgetBefore(now() - REEXAMINE_MS);
    return found.filter(({ account: { address } }) => !watched.has(address) && !pair.passedOver.has(address));
  }

  #watch(pair: WatchedPair, found: FoundMarket): MarketWatch {
    const { live, judge, warn } = this.#options;
    return new MarketWatch({ found, live, judge, warn, owner: pair });
  }

  async #addAll(pair: WatchedPair, found: readonly FoundMarket[]): Promise<Change> {
    const added = found.map((one) => this.#watch(pair, one));
    await orRelease(added, completeWatches(added, this.#options.now() - FOUND_HOLDS_MS));
    return { added, dropped: NONE };
  }

  /** Reads the markets without following them, and watches those among the best of these and the ones watched already. */
  async #addBest(pair: WatchedPair, found: readonly FoundMarket[]): Promise<Change> {
    const { reader, head, now, maxMarketsPerPair } = this.#options;
    const { examined, known } = await examineMarkets(found, { reader, now });
    const hot = pair.watches.flatMap((watch) => {
      const reading = watch.read();
      if (reading.kind !== "hot") return [];
      const { venue, market, state } = reading.hot;
      return [{ venue, market, state, watch }];
    });
    const chosen = await chooseBest<Examined | (typeof hot)[number]>([...hot, ...examined], {
      pair: pair.pair,
      limit: maxMarketsPerPair,
      clock: head.clock(),
    });
    const atMs = now();
    for (const { account, venue } of found) pair.passedOver.add(account.address, venue.id, atMs);
    const entering = examined.filter((one) => chosen.has(one));
    for (const { found: origin } of entering) pair.passedOver.delete(origin.account.address);
    const added = entering.map((one) => this.#watch(pair, one.found));
    const holding = entering.map((one, i) =>
      added[i]!.hold([one.found.account.address, ...neededBy(one, known)], known),
    );
    await orRelease(added, Promise.all(holding));
    const dropped = new Set<MarketWatch>();
    for (const one of hot) {
      if (chosen.has(one)) continue;
      dropped.add(one.watch);
      pair.passedOver.add(one.market.address, one.venue.id, atMs);
    }
    return { added, dropped };
  }

  /** Reads the markets again if the accounts found are old, so that neither a slow search nor a lagging node makes a market stale. */
  async #refreshOld(found: readonly FoundMarket[], watches: readonly MarketWatch[]): Promise<void> {
    const { live, now, maxAgeMs } = this.#options;
    const sinceMs = now() - maxAgeMs / 2;
    const isOld = (address: Address): boolean => live.currentAtMs(address) < sinceMs;
    if (!found.some(({ readAtMs }) => readAtMs < sinceMs) && !watches.some(({ address }) => isOld(address))) return;
    const held = new Set(watches.flatMap((one) => [...one.held]));
    await orRelease(watches, live.refresh([...held].filter(isOld)));
  }
}

function unexamined(left: number, found: number): MarketFault {
  return { venue: "all", market: undefined, reason: `${left} of ${found} markets for this pair are not examined yet` };
}

/** Awaits the reads; releases the watches if they fail. */
async function orRelease(watches: readonly MarketWatch[], reads: Promise<unknown>): Promise<void> {
  try {
    await reads;
  } catch (error) {
    for (const watch of watches) watch.release();
    throw error;
  }
}
