import { Address } from "../primitives/address.ts";
import type { Now } from "../primitives/clock.ts";
import { afterRunning } from "../primitives/turns/after-running.ts";
import type { Database } from "./store/schema.ts";
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
  /** Genesis hash: databases outlive chains, and markets of one are none of another. */
  readonly network: string;
  /** The wall clock: rows hold its times, which other processes read. */
  readonly now: Now;
  /** The clock of the searches that are added and found; absent: `now`. */
  readonly searchMs?: Now;
  /** Longest wait for an answer, while this process runs: after that the chain is searched as if nothing were known. Milliseconds. */
  readonly answerMs?: number;
  readonly warn: (message: string) => void;
}

/** Characters of the genesis hash that name the network in the rows. */
const NETWORK_LENGTH = 12;
/** Keys asked for in one query. */
const KEYS_PER_QUERY = 200;
/** Rows written by one statement: PostgreSQL allows 65,535 parameters, SQLite 32,766. */
const ROWS_PER_WRITE = 500;
const DEFAULT_ANSWER_MS = 1_500;
/** Writes that may wait. Beyond that what was found is not kept, and is searched for again. */
const MAX_WRITES = 1_000;
/** How long a database that did not answer is not asked again. Milliseconds. */
const DOWN_MS = 5_000;
/** Longest wait of `close` for pending writes; later ones are dropped. Milliseconds. */
const CLOSE_MS = 1_000;
/** How long an outage of the database is not logged again. Milliseconds. */
const QUIET_MS = 600_000;

/** The index of markets in the database, shared by all processes on it. What is asked for together is one query. */
export class StoredMarketIndex {
  readonly #options: StoredMarketIndexOptions;
  readonly #prefix: string;
  readonly #asked = new Map<string, PromiseWithResolvers<KeptEntry | undefined>>();
  #isAsking = false;
  #writes: Promise<void> = Promise.resolve();
  #waiting = 0;
  #quietUntilMs = 0;
  #downUntilMs = 0;
  #isClosed = false;
  #isDropping = false;

  constructor(options: StoredMarketIndexOptions) {
    this.#options = options;
    this.#prefix = `${options.network.slice(0, NETWORK_LENGTH)}/`;
  }

  /** The entries of these keys, without those it does not have; undefined if the database does not answer in time. */
  async find(keys: readonly string[]): Promise<ReadonlyMap<string, KeptEntry> | undefined> {
    const { now, answerMs = DEFAULT_ANSWER_MS } = this.#options;
    if (this.#isClosed || now() < this.#downUntilMs) return undefined;
    const asking = keys.map((key) => this.#ask(key));
    const late = Promise.withResolvers<undefined>();
    const stop = afterRunning(answerMs, () => late.resolve(undefined));
    try {
      const entries = await Promise.race([Promise.all(asking), late.promise]);
      if (entries === undefined) {
        this.#downUntilMs = now() + DOWN_MS;
        return undefined;
      }
      const found = new Map<string, KeptEntry>();
      for (const [i, entry] of entries.entries()) if (entry !== undefined) found.set(keys[i]!, entry);
      return found;
    } catch (error) {
      this.#downUntilMs = now() + DOWN_MS;
      this.#note(error);
      return undefined;
    } finally {
      stop();
    }
  }

  /** Adds markets; with `searched`, notes that these venues were searched for the key. Resolves when written, or given up. */
  add(key: string, markets: readonly KeptMarket[], searched?: Search): Promise<void> {
    const atMs = this.#options.now();
    const searchedAtMs = searched === undefined ? 0 : Math.round(searched.atMs - this.#aheadMs());
    const subject = this.#prefix + key;
    return this.#write(async (db) => {
      for (let from = 0; from < markets.length; from += ROWS_PER_WRITE) {
        const rows = markets.slice(from, from + ROWS_PER_WRITE).map(({ venue, address, mints: [a, b] }) => ({
          subject,
          address: address.toString(),
          venue,
          mint_a: a.toString(),
          mint_b: b.toString(),
          found_at_ms: atMs,
        }));
        await db
          .insertInto("markets")
          .values(rows)
          .onConflict((conflict) => conflict.columns(["subject", "address"]).doNothing())
          .execute();
      }
      if (searched === undefined) return;
      const venues = searched.venues.join(" ");
      await db
        .insertInto("market_searches")
        .values({ subject, venues, first_at_ms: searchedAtMs, at_ms: searchedAtMs })
        .onConflict((conflict) => conflict.column("subject").doUpdateSet({ venues, at_ms: searchedAtMs }))
        .execute();
    });
  }

  /** Forgets markets. Resolves when that is written, or given up. */
  remove(addresses: readonly Address[]): Promise<void> {
    return this.#write(async (db) => {
      for (let from = 0; from < addresses.length; from += ROWS_PER_WRITE) {
        const some = addresses.slice(from, from + ROWS_PER_WRITE).map(String);
        await db.deleteFrom("markets").where("address", "in", some).execute();
      }
    });
  }

  /** Lets pending writes end, if they do soon. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const dropping = setTimeout(() => {
      this.#isDropping = true;
    }, CLOSE_MS);
    await this.#writes;
    clearTimeout(dropping);
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
        queueMicrotask(() => void this.#answer());
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
    const { store } = this.#options;
    const [markets, searches] = await Promise.all([
      store.run((db) => db.selectFrom("markets").selectAll().where("subject", "in", keys).execute()),
      store.run((db) => db.selectFrom("market_searches").selectAll().where("subject", "in", keys).execute()),
    ]);
    const found = new Map<string, KeptEntry>();
    const aheadMs = this.#aheadMs();
    for (const { subject, venues, first_at_ms, at_ms } of searches) {
      const times = { firstAtMs: first_at_ms + aheadMs, atMs: at_ms + aheadMs };
      found.set(subject, { markets: [], searched: { venues: venues.split(" "), ...times } });
    }
    for (const { subject, address, venue, mint_a, mint_b } of markets) {
      let entry = found.get(subject);
      if (entry === undefined) {
        entry = { markets: [] };
        found.set(subject, entry);
      }
      entry.markets.push({ venue, address: Address.of(address), mints: [Address.of(mint_a), Address.of(mint_b)] });
    }
    return found;
  }

  /** From the wall clock to that of the searches: a wall clock that was set back is behind. Milliseconds. */
  #aheadMs(): number {
    const { now, searchMs = now } = this.#options;
    return searchMs() - now();
  }

  /** One write after the other: searches come no faster, and none of them waits for it. */
  #write(work: (db: Database) => Promise<void>): Promise<void> {
    if (this.#isClosed || this.#waiting >= MAX_WRITES) return Promise.resolve();
    this.#waiting += 1;
    const { store } = this.#options;
    this.#writes = this.#writes
      .then(() => (this.#isDropping ? undefined : store.run(work)))
      .catch((error: unknown) => this.#note(error))
      .finally(() => {
        this.#waiting -= 1;
      });
    return this.#writes;
  }

  #note(error: unknown): void {
    const atMs = this.#options.now();
    if (atMs < this.#quietUntilMs) return;
    this.#quietUntilMs = atMs + QUIET_MS;
    this.#options.warn(
      `The index of markets cannot be read or written; pairs are searched on the chain: ${String(error)}`,
    );
  }
}
