import type { AccountReader, KnownAccount, StateSource } from "../chain/port.ts";
import { TradewireError } from "../errors/tradewire-error.ts";
import { type Address, compareAddresses } from "../primitives/address.ts";
import type { Now } from "../primitives/clock.ts";
import type { Account, AccountView, ChainClock } from "../solana/account.ts";
import { decodeMint, isMint, type Mint } from "../solana/mint.ts";
import type { MintPair, Venue } from "../venues/venue.ts";
import { discoverMarkets, type FoundMarket } from "./discovery.ts";
import { type AccountHolder, createLiveAccounts } from "./live-accounts.ts";
import { type MarketWatch, watchMarket } from "./market-watch.ts";
import type { HotMarket, MarketFault, Markets, PairMarkets } from "./port.ts";
import { chooseBest, type Examined, examineMarkets } from "./selection.ts";

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
  /** How the last search of it for markets went and when it ended (epoch milliseconds); undefined before the first. */
  readonly lastSearch: { readonly ok: boolean; readonly atMs: number } | undefined;
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

interface Pair {
  readonly pair: MintPair;
  watches: readonly MarketWatch[];
  searchFaults: readonly MarketFault[];
  searched: readonly string[];
  /** Markets that were found and are not among the best, and when they were read. */
  passedOver: Map<Address, { readonly venue: string; readonly atMs: number }>;
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

interface Single {
  lastUsedMs: number;
  /** Asked for as a mint, by anybody: not kept for long where there is none. */
  isMint: boolean;
  decodedFrom: Account | undefined;
  mint: Mint | null;
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
const NONE: ReadonlySet<MarketWatch> = new Set();
/** Rounds of reads after the search: what the market needs, and what that shows to be needed. */
const ROUNDS_AFTER_SEARCH = 2;

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
  /** By the lower mint, then the higher. */
  const pairs = new Map<Address, Map<Address, Pair>>();
  const singles = new Map<Address, Single>();
  const singlesHolder: AccountHolder = { onChange() {} };
  let closed = false;
  let researchedAtMs = Number.NEGATIVE_INFINITY;
  const lastSearches = new Map<string, NonNullable<VenueReport["lastSearch"]>>();

  function pairOf(a: Address, b: Address): Pair {
    const [low, high] = compareAddresses(a, b) < 0 ? [a, b] : [b, a];
    let row = pairs.get(low);
    if (row === undefined) {
      row = new Map();
      pairs.set(low, row);
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
        lastUsedMs: now(),
        answer: undefined,
        freshUntilMs: 0,
        work: undefined,
        researching: false,
      };
      row.set(high, entry);
    }
    return entry;
  }

  function drop(entry: Pair): void {
    for (const watch of entry.watches) watch.release();
    entry.watches = [];
    const row = pairs.get(entry.pair.a);
    row?.delete(entry.pair.b);
    if (row?.size === 0) pairs.delete(entry.pair.a);
  }

  function noteSearch(searched: readonly string[]): void {
    for (const { id } of venues) lastSearches.set(id, { ok: searched.includes(id), atMs: now() });
  }

  /** Searches every venue; watches what is new, as far as it is among the best, and lets go of what is closed. */
  async function search(entry: Pair): Promise<void> {
    entry.searchedAtMs = now();
    const discovering = discoverMarkets(entry.pair, { reader, venues, now, warn, maxFound });
    const { found, faults, searched, isComplete } = await discovering.catch((error: unknown) => {
      noteSearch([]);
      throw error;
    });
    noteSearch(searched);
    const watched = new Set(entry.watches.map(({ address }) => address));
    const fresh = found.filter(({ account }) => {
      if (watched.has(account.address)) return false;
      const passed = entry.passedOver.get(account.address);
      return passed === undefined || passed.atMs + reexamineMs <= now();
    });
    const isCrowded = watched.size + fresh.length > maxMarketsPerPair;
    const { added, dropped } = isCrowded
      ? await addBest(entry, fresh)
      : { added: await addAll(entry, fresh), dropped: NONE };
    if (closed || pairs.get(entry.pair.a)?.get(entry.pair.b) !== entry) {
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

  /** Soon where nothing was found, or a part failed: less and less soon where it fails again, for searches are what nodes mind most. */
  function againAfterMs({ watches, partialSearches }: Pair): number {
    if (watches.length === 0) return negativeMs;
    return partialSearches === 0 ? researchMs : Math.min(researchMs, negativeMs * 2 ** (partialSearches - 1));
  }

  function watch(entry: Pair, found: FoundMarket): MarketWatch {
    const onChange = () => {
      entry.answer = undefined;
    };
    return watchMarket({ found, live, onChange });
  }

  async function addAll(entry: Pair, found: readonly FoundMarket[]): Promise<readonly MarketWatch[]> {
    const added = found.map((one) => watch(entry, one));
    try {
      await complete(added);
    } catch (error) {
      for (const one of added) one.release();
      throw error;
    }
    return added;
  }

  /** Reads the markets without following them, and watches those that are among the best with those watched already. */
  async function addBest(
    entry: Pair,
    found: readonly FoundMarket[],
  ): Promise<{ readonly added: readonly MarketWatch[]; readonly dropped: ReadonlySet<MarketWatch> }> {
    const { examined, known } = await examineMarkets(found, { reader, now, rounds: ROUNDS_AFTER_SEARCH });
    const hot = entry.watches.flatMap((one) => {
      const reading = one.read();
      return reading.kind === "hot" ? [{ ...reading.hot, watch: one }] : [];
    });
    const view: AccountView = { get: (address) => known.get(address)?.account ?? live.get(address) };
    const chosen = await chooseBest<(typeof examined)[number] | (typeof hot)[number]>([...hot, ...examined], {
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

  /** Says how many markets of each venue are not kept live because others give more. */
  function passedOverFaults(entry: Pair): readonly MarketFault[] {
    const counts = new Map<string, number>();
    for (const { venue } of entry.passedOver.values()) counts.set(venue, (counts.get(venue) ?? 0) + 1);
    return [...counts].map(([venue, count]) => ({
      venue,
      market: undefined,
      reason: `${count} of its markets give less than those kept live, or cannot be traded`,
    }));
  }

  /** Reads what the markets still lack, in at most the allowed rounds, all markets together in each. */
  async function complete(watches: readonly MarketWatch[]): Promise<void> {
    for (let round = 0; round < ROUNDS_AFTER_SEARCH; round++) {
      const reads = watches.flatMap((watch) => {
        const reading = watch.read();
        return reading.kind === "lacking" ? [watch.hold(reading.addresses)] : [];
      });
      if (reads.length === 0) return;
      await Promise.all(reads);
    }
  }

  /** The answer from memory. What still lacks accounts after the last round of reads is a fault; before it, there is no answer yet. */
  function answerFromMemory(entry: Pair, isLastRound: boolean): PairMarkets | undefined {
    const markets: HotMarket[] = [];
    const faults: MarketFault[] = [...entry.searchFaults];
    for (const watch of entry.watches) {
      const reading = watch.read();
      if (reading.kind === "hot") markets.push(reading.hot);
      else if (reading.kind === "fault") faults.push(reading.fault);
      else if (isLastRound)
        faults.push({
          venue: watch.venue.id,
          market: watch.address.toString(),
          reason: "needs more rounds of reads than are allowed",
        });
      else return undefined;
    }
    return { markets, faults, searched: entry.searched };
  }

  /** @throws TradewireError STATE_STALE */
  function assertFresh(entry: Pair): void {
    const headAgeMs = head.slotAgeMs();
    if (headAgeMs > maxAgeMs) throw stale(headAgeMs);
    const atMs = now();
    if (atMs <= entry.freshUntilMs) return;
    let oldestMs = Number.POSITIVE_INFINITY;
    for (const { held } of entry.watches) {
      live.use(held);
      for (const address of held) oldestMs = Math.min(oldestMs, live.currentAtMs(address));
    }
    if (oldestMs + maxAgeMs < atMs) throw stale(atMs - oldestMs);
    entry.freshUntilMs = Math.min(oldestMs, atMs) + maxAgeMs;
  }

  function stale(ageMs: number): TradewireError {
    return new TradewireError(
      "STATE_STALE",
      `The newest known state of the chain is ${Math.round(ageMs)} ms old, too old to build on. Try again shortly.`,
      { retryAfterMs: 400 },
    );
  }

  /** Runs the reads once for everybody who asks while they are under way. */
  function share(entry: Pair, reads: () => Promise<void>): Promise<PairMarkets> {
    const work = reads().then(() => {
      const answer = answerFromMemory(entry, true) ?? {
        markets: [],
        faults: entry.searchFaults,
        searched: entry.searched,
      };
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
  function research(entry: Pair): void {
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
    const entry = pairOf(a, b);
    const atMs = now();
    entry.lastUsedMs = atMs;
    if (entry.work !== undefined) return entry.work;
    if (entry.searchAgainAtMs === undefined) return share(entry, () => search(entry));
    if (atMs > entry.searchAgainAtMs && !entry.researching) {
      if (entry.watches.length === 0) return share(entry, () => search(entry));
      research(entry);
    }
    if (entry.answer === undefined) {
      entry.answer = answerFromMemory(entry, false);
      entry.freshUntilMs = 0;
      if (entry.answer === undefined) return share(entry, () => complete(entry.watches));
    }
    assertFresh(entry);
    return entry.answer;
  }

  function knownMarkets({ a, b }: MintPair): PairMarkets | undefined {
    const entry = pairOf(a, b);
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
      entry.answer = answerFromMemory(entry, false);
      entry.freshUntilMs = 0;
      if (entry.answer === undefined) {
        share(entry, () => complete(entry.watches));
        return undefined;
      }
    }
    return isFresh(entry) ? entry.answer : undefined;
  }

  function searchSoon({ a, b }: MintPair): void {
    const entry = pairOf(a, b);
    if (entry.work !== undefined || entry.researching || entry.searchAgainAtMs === undefined) return;
    if (now() >= entry.searchedAtMs + DOUBT_MS) research(entry);
  }

  function isFresh(entry: Pair): boolean {
    try {
      assertFresh(entry);
      return true;
    } catch {
      return false;
    }
  }

  function single(address: Address): Single {
    let entry = singles.get(address);
    if (entry === undefined) {
      entry = { lastUsedMs: 0, isMint: false, decodedFrom: undefined, mint: null };
      singles.set(address, entry);
    }
    entry.lastUsedMs = now();
    return entry;
  }

  function mintOf(address: Address, account: Account | null): Mint | null {
    const entry = single(address);
    entry.isMint = true;
    if (account === null) return null;
    if (entry.decodedFrom !== account) {
      entry.mint = isMint(account) ? decodeMint(account) : null;
      entry.decodedFrom = account;
    }
    return entry.mint;
  }

  function warm(addresses: readonly Address[]): Promise<void> {
    for (const address of addresses) single(address);
    return live.hold(singlesHolder, addresses);
  }

  function sweep(): void {
    const idleSinceMs = now() - idleMs;
    const noneSinceMs = now() - negativeMs;
    const emptySinceMs = now() - 2 * researchMs;
    const keptPairs: Pair[] = [];
    for (const row of [...pairs.values()]) {
      for (const entry of [...row.values()]) {
        if (entry.work !== undefined || entry.researching) continue;
        if (entry.lastUsedMs < (entry.watches.length === 0 ? emptySinceMs : idleSinceMs)) drop(entry);
        else keptPairs.push(entry);
      }
    }
    for (const entry of leastUsed(keptPairs, maxPairs)) drop(entry);

    const keptSingles: { readonly address: Address; readonly lastUsedMs: number }[] = [];
    const unused: Address[] = [];
    for (const [address, { lastUsedMs, isMint }] of singles) {
      const isUnused = lastUsedMs < (isMint && live.get(address) === null ? noneSinceMs : idleSinceMs);
      if (isUnused) unused.push(address);
      else keptSingles.push({ address, lastUsedMs });
    }
    for (const { address } of leastUsed(keptSingles, maxSingles)) unused.push(address);
    for (const address of unused) singles.delete(address);
    live.release(singlesHolder, unused);
  }

  const sweeper = setInterval(sweep, sweepMs);

  return {
    marketsOf,
    knownMarkets,
    searchSoon,
    mint(address) {
      const account = live.get(address);
      if (account !== undefined && singles.has(address)) return mintOf(address, account);
      const read = warm([address]).then(() => mintOf(address, live.get(address) ?? null));
      // Whoever only wants to know whether it is in memory does not wait for it.
      read.catch(() => {});
      return read;
    },
    account(address) {
      const entry = singles.get(address);
      if (entry === undefined) {
        // Nobody waits for this one; the source goes on trying.
        warm([address]).catch(() => {});
        return undefined;
      }
      const atMs = now();
      entry.lastUsedMs = atMs;
      const account = live.get(address);
      return account !== undefined && live.currentAtMs(address) + maxAgeMs >= atMs ? account : undefined;
    },
    warm,
    async refresh(addresses) {
      await warm(addresses);
      await live.refresh(addresses);
    },
    size() {
      let count = 0;
      for (const row of pairs.values()) count += row.size;
      return { pairs: count, accounts: live.size() };
    },
    report() {
      const counts = new Map<string, number>();
      for (const row of pairs.values())
        for (const { watches } of row.values())
          for (const { venue } of watches) counts.set(venue.id, (counts.get(venue.id) ?? 0) + 1);
      return venues.map(({ id }) => ({ id, markets: counts.get(id) ?? 0, lastSearch: lastSearches.get(id) }));
    },
    close() {
      closed = true;
      clearInterval(sweeper);
    },
  };
}

/** The accounts a market's state was read from: asked for one after another, as with nothing but what is needed so far. */
function neededBy({ venue, market }: Examined, known: ReadonlyMap<Address, KnownAccount>): readonly Address[] {
  const have = new Set<Address>([market.address]);
  const view: AccountView = { get: (address) => (have.has(address) ? known.get(address)?.account : undefined) };
  for (let round = 0; round < ROUNDS_AFTER_SEARCH; round++) for (const one of venue.needs(market, view)) have.add(one);
  have.delete(market.address);
  return [...have];
}

/** The entries above `limit`, longest unused first. */
function leastUsed<T extends { readonly lastUsedMs: number }>(entries: T[], limit: number): readonly T[] {
  if (entries.length <= limit) return [];
  return entries.sort((x, y) => x.lastUsedMs - y.lastUsedMs).slice(0, entries.length - limit);
}
