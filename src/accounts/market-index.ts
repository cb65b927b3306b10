import { setImmediate } from "node:timers";
import { Address } from "../primitives/address.ts";
import type { Now } from "../primitives/clock.ts";
import { afterRunning } from "../primitives/turns/after-running.ts";
import { background } from "../primitives/turns/background.ts";
import { createMarketRows, type MarketRow, type MarketRows } from "./market-rows.ts";
import { MarketWrites } from "./market-writes.ts";
import type { Store } from "./store/store.ts";

interface KeptMarket {
  readonly venue: string;
  readonly address: Address;
  readonly mints: readonly [Address, Address];
}

interface KeptEntry {
  markets: KeptMarket[];
  searched?: { readonly venues: readonly string[]; readonly firstAtMs: number; readonly atMs: number };
}

type Search = { readonly venues: readonly string[]; readonly atMs: number };

interface StoredMarketIndexOptions {
  readonly store: Store;
  /** Genesis hash: databases outlive chains, and a market of one chain does not exist on another. */
  readonly network: string;
  /** The wall clock: rows hold its times, which other processes read. */
  readonly now: Now;
  /** A clock that is never set back, by which the searches that are added and found are dated; absent: `now`. */
  readonly steadyMs?: Now;
  /** Longest wait for an answer, while this process runs: after that the chain is searched as if nothing were known. Milliseconds. */
  readonly answerMs?: number;
  readonly warn: (message: string) => void;
}

/** Rows made or read before others get a turn: a fraction of a millisecond's worth. A key may have thousands. */
const ROWS_IN_TURN = 128;
/** Characters of the genesis hash that name the network in the rows. */
const NETWORK_LENGTH = 12;
/** Keys asked for in one query. */
const KEYS_PER_QUERY = 200;
const DEFAULT_ANSWER_MS = 1_500;
/** How long a database that did not answer is not asked again. Milliseconds. */
const DOWN_MS = 5_000;
/** How long an outage of the database is not logged again. Milliseconds. */
const QUIET_MS = 600_000;

/** How far ahead the clock of another process may be: a search of a later time is damaged, and would never be repeated. Milliseconds. */
const MAX_AHEAD_MS = 24 * 3_600_000;

const isPast = (atMs: unknown, nowMs: number): boolean =>
  Number.isFinite(atMs) && (atMs as number) < nowMs + MAX_AHEAD_MS;

/** The index of markets in the database, shared by all processes on it. Requests that come together share one query. */
export class StoredMarketIndex {
  readonly #options: StoredMarketIndexOptions;
  readonly #steadyMs: Now;
  readonly #prefix: string;
  readonly #asked = new Map<string, PromiseWithResolvers<KeptEntry | undefined>>();
  #isAsking = false;
  /** By the steady clock, as the next. */
  #quietUntilMs = 0;
  #downUntilMs = 0;
  #isClosed = false;
  readonly #rows: MarketRows;
  readonly #writes: MarketWrites;

  constructor(options: StoredMarketIndexOptions) {
    this.#options = options;
    this.#steadyMs = options.steadyMs ?? options.now;
    this.#rows = createMarketRows(options.store);
    this.#writes = new MarketWrites({ rows: this.#rows, fail: (error) => this.#note(error) });
    this.#prefix = `${options.network.slice(0, NETWORK_LENGTH)}/`;
  }

  /** The entries of these keys, without those it does not have; undefined if the database does not answer in time. */
  async find(keys: readonly string[]): Promise<ReadonlyMap<string, KeptEntry> | undefined> {
    const { answerMs = DEFAULT_ANSWER_MS } = this.#options;
    if (this.#isClosed || this.#steadyMs() < this.#downUntilMs) return undefined;
    const asking = keys.map((key) => this.#ask(key));
    const late = Promise.withResolvers<undefined>();
    const stop = afterRunning(answerMs, () => late.resolve(undefined));
    try {
      const entries = await Promise.race([Promise.all(asking), late.promise]);
      if (entries === undefined) {
        this.#downUntilMs = this.#steadyMs() + DOWN_MS;
        return undefined;
      }
      // One statement answers for several pairs, and each goes on to search.
      await background.next();
      const found = new Map<string, KeptEntry>();
      for (const [i, entry] of entries.entries()) if (entry !== undefined) found.set(keys[i]!, entry);
      return found;
    } catch (error) {
      this.#downUntilMs = this.#steadyMs() + DOWN_MS;
      this.#note(error);
      return undefined;
    } finally {
      stop();
    }
  }

  /** Adds markets; with `searched`, notes that these venues were searched for the key. Resolves when written, or given up. */
  async add(key: string, markets: readonly KeptMarket[], searched?: Search): Promise<void> {
    const atMs = this.#options.now();
    const subject = this.#prefix + key;
    const rows: MarketRow[] = [];
    for (const { venue, address, mints } of markets) {
      const [a, b] = mints.map(String) as [string, string];
      rows.push({ subject, address: address.toString(), venue, mint_a: a, mint_b: b, found_at_ms: atMs });
      // The texts of addresses take most of the time.
      if (rows.length % ROWS_IN_TURN === 0) await background.next();
    }
    if (searched === undefined) return this.#writes.add(rows, undefined);
    const searchedAtMs = Math.round(searched.atMs - this.#aheadMs());
    const venues = searched.venues.join(" ");
    return this.#writes.add(rows, { subject, venues, first_at_ms: searchedAtMs, at_ms: searchedAtMs });
  }

  /** Forgets markets. Resolves when that is written, or given up. */
  remove(addresses: readonly Address[]): Promise<void> {
    return this.#writes.remove(addresses.map(String));
  }

  /** Lets pending writes end, if they do soon. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.#writes.close();
  }

  #ask(key: string): Promise<KeptEntry | undefined> {
    let asked = this.#asked.get(key);
    if (asked === undefined) {
      asked = Promise.withResolvers();
      // A caller that stopped waiting drops it.
      asked.promise.catch(() => {});
      this.#asked.set(key, asked);
      if (!this.#isAsking) {
        this.#isAsking = true;
        // What has asked had this turn of the loop.
        setImmediate(() => void this.#answer());
      }
    }
    return asked.promise;
  }

  /** Answers what has been asked for, query after query. */
  async #answer(): Promise<void> {
    while (this.#asked.size > 0) {
      const some = [...this.#asked].slice(0, KEYS_PER_QUERY);
      for (const [key] of some) this.#asked.delete(key);
      try {
        const found = await this.#query(some.map(([key]) => this.#prefix + key));
        for (const [key, { resolve }] of some) resolve(found.get(this.#prefix + key));
      } catch (error) {
        for (const [, { reject }] of some) reject(error);
      }
    }
    this.#isAsking = false;
  }

  async #query(keys: readonly string[]): Promise<ReadonlyMap<string, KeptEntry>> {
    const found = new Map<string, KeptEntry>();
    const damaged = new Set<KeptEntry>();
    const nowMs = this.#options.now();
    const aheadMs = this.#aheadMs();
    const rows = await this.#rows.find(keys);
    for (const [i, { subject, venues, address, mint_a, mint_b, first_at_ms, at_ms }] of rows.entries()) {
      if (i % ROWS_IN_TURN === ROWS_IN_TURN - 1) await background.next();
      let entry = found.get(subject);
      if (entry === undefined) {
        entry = { markets: [] };
        found.set(subject, entry);
      }
      if (address === "") {
        if (!isPast(first_at_ms, nowMs) || !isPast(at_ms, nowMs)) continue;
        const times = { firstAtMs: first_at_ms + aheadMs, atMs: at_ms + aheadMs };
        entry.searched = { venues: String(venues).split(" "), ...times };
      } else {
        const at = Address.parse(String(address));
        const [a, b] = [Address.parse(String(mint_a)), Address.parse(String(mint_b))];
        if (at !== undefined && a !== undefined && b !== undefined)
          entry.markets.push({ venue: venues, address: at, mints: [a, b] });
        else damaged.add(entry);
        // A search writes the others again; text that is not an address cannot be a market.
        if (at === undefined) void this.#writes.remove([String(address)]);
      }
    }
    // They may have been all there are, without this one.
    for (const entry of damaged) delete entry.searched;
    return found;
  }

  /** From the wall clock to that of the searches: a wall clock that was set back is behind. Milliseconds. */
  #aheadMs(): number {
    return this.#steadyMs() - this.#options.now();
  }

  #note(error: unknown): void {
    const atMs = this.#steadyMs();
    if (atMs < this.#quietUntilMs) return;
    this.#quietUntilMs = atMs + QUIET_MS;
    this.#options.warn(
      `The index of markets cannot be read or written; pairs are searched on the chain: ${String(error)}`,
    );
  }
}
