import type { Now } from "../primitives/clock.ts";
import type { Database } from "./store/schema.ts";
import type { Store } from "./store/store.ts";

/** For how long a process counts under one name, and its rows are kept, at least, and in exchanges: others read each before that. */
const LEAST_LIFE_MS = 60_000;
const LIFE_EXCHANGES = 3;

/** Names written per statement: PostgreSQL allows 65,535 parameters, and a name needs four. */
const NAMES_PER_WRITE = 1_000;

/** Owners whose rows one statement reads: SQLite allows 500 parts. */
const OWNERS_PER_QUERY = 200;

/** Rows deleted per statement: far fewer than take as long as its time-out. */
const ROWS_PER_DELETE = 5_000;

/** By their places, and in the order of one index: what PostgreSQL knows of an owner is older than the owner, and would mislead it. */
const OLDEST = (one: string, other: string, place: string) =>
  `select ${place} from limit_usage where owner = ${one} and at_ms <= ${other} order by at_ms limit ${ROWS_PER_DELETE}`;
const DELETE = `delete from limit_usage where ctid = any(array(${OLDEST("$1", "$2", "ctid")}))`;
const DELETE_EMBEDDED = `delete from limit_usage where rowid in (${OLDEST("?", "?", "rowid")})`;

/** The owners that have rows, each found from the one before. */
const OWNERS =
  "with recursive owners (owner) as (select min(owner) from limit_usage union all " +
  "select (select min(owner) from limit_usage where limit_usage.owner > owners.owner) from owners where owners.owner is not null) " +
  "select owner from owners where owner is not null";

/** How processes that share limits exchange what has been used. */
export interface LimitUsage {
  /**
   * Publishes the calls counted here since the last exchange, and returns those counted elsewhere, by name.
   * @throws TradewireError UPSTREAM_ERROR
   */
  exchange(used: ReadonlyMap<string, number>): Promise<Map<string, number>>;
}

/**
 * Shares counts through the store. A process counts from zero again once in a while, under another name: so it keeps no names of
 * callers for ever, and no count of the past is taken for one of the present.
 *
 * @param owner names this process among those that share it
 * @param now a wall clock, by which this process dates what it writes
 * @param elapsedMs a monotonic clock: no step of the wall clock makes what others wrote old
 * @param everyMs time between exchanges, of this process as of the others
 */
export function createLimitUsage(
  store: Store,
  owner: string,
  now: Now,
  elapsedMs: () => number,
  everyMs: number,
): LimitUsage {
  return new StoredLimitUsage(store, owner, now, elapsedMs, Math.max(LEAST_LIFE_MS, LIFE_EXCHANGES * everyMs));
}

/** What was read of another process under one of its names. */
interface Other {
  /** Its newest row, by its own clock (epoch milliseconds). */
  untilMs: number;
  /** When a newer row was last read, by the monotonic clock of this process. */
  seenAtMs: number;
  /** The calls in its rows, by name. Forgotten together: one by one, those of a minute would be looked at in each exchange. */
  readonly calls: Map<string, number>;
}

interface UsageRow {
  readonly owner: string;
  readonly name: string;
  readonly calls: number;
  readonly atMs: number;
}

class StoredLimitUsage implements LimitUsage {
  readonly #store: Store;
  readonly #owner: string;
  readonly #now: Now;
  /** Calls counted under the present name. */
  readonly #published = new Map<string, number>();
  readonly #elapsedMs: () => number;
  /** For how long it counts under one name, and keeps what it wrote. */
  readonly #lifeMs: number;
  #names = 0;
  #namedAtMs: number;
  /** By owner. What was received is kept for twice as long as a process counts under one name. */
  readonly #others = new Map<string, Other>();
  #publishedAtMs = 0;
  /** True if the last counts may not have been written. */
  #isUnsent = false;
  #isFirst = true;

  constructor(store: Store, owner: string, now: Now, elapsedMs: () => number, lifeMs: number) {
    this.#store = store;
    this.#owner = owner;
    this.#now = now;
    this.#elapsedMs = elapsedMs;
    this.#lifeMs = lifeMs;
    this.#namedAtMs = elapsedMs();
  }

  async exchange(used: ReadonlyMap<string, number>): Promise<Map<string, number>> {
    const elapsedMs = this.#elapsedMs();
    await this.#publish(used, elapsedMs);
    const owners = await this.#readOwners();
    const rows = await this.#readOthers(owners.filter((owner) => !this.#isOwn(owner)));
    // Last of what may fail: what was noted as received is charged.
    await this.#deleteOld(owners, elapsedMs);
    const fresh = this.#receive(rows, elapsedMs);
    if (!this.#isFirst) return fresh;
    // Usage from before this process started does not count against its buckets.
    this.#isFirst = false;
    return new Map();
  }

  /** The name that calls are counted under now. */
  get #ownName(): string {
    return `${this.#owner}:${this.#names}`;
  }

  #isOwn(owner: string): boolean {
    return owner.startsWith(`${this.#owner}:`);
  }

  /** Who has rows: one step on the index for each. `distinct` would read all rows. */
  async #readOwners(): Promise<readonly string[]> {
    const rows = await this.#store.query<{ readonly owner: string }>(OWNERS, []);
    return rows.map(({ owner }) => owner);
  }

  /** Rows written since the last exchange: its cost depends on current traffic, not on that of the last minute. */
  async #readOthers(owners: readonly string[]): Promise<readonly UsageRow[]> {
    const rows: UsageRow[] = [];
    for (let at = 0; at < owners.length; at += OWNERS_PER_QUERY) {
      const some = owners.slice(at, at + OWNERS_PER_QUERY);
      rows.push(...(await this.#store.run((db) => newRows(db, some, this.#others).execute())));
    }
    return rows;
  }

  /**
   * Each process deletes what it wrote under earlier names, by the clock that dated it, and all of a process that has written nothing
   * for a while. A clock that is ahead would take for old what the others have yet to read.
   */
  async #deleteOld(owners: readonly string[], elapsedMs: number): Promise<void> {
    const beforeMs = this.#now() - this.#lifeMs;
    for (const owner of owners)
      if (this.#isOwn(owner) && owner !== this.#ownName) await this.#deleteUntil(owner, beforeMs - 1);
    for (const [owner, { seenAtMs, untilMs }] of this.#others) {
      if (seenAtMs >= elapsedMs - 2 * this.#lifeMs) continue;
      if (owners.includes(owner)) await this.#deleteUntil(owner, untilMs);
      this.#others.delete(owner);
    }
  }

  async #deleteUntil(owner: string, untilMs: number): Promise<void> {
    const sql = this.#store.isEmbedded ? DELETE_EMBEDDED : DELETE;
    while ((await this.#store.write(sql, [owner, untilMs])) === ROWS_PER_DELETE);
  }

  /** Calls in the rows beyond those received before, by name. */
  #receive(rows: readonly UsageRow[], elapsedMs: number): Map<string, number> {
    const fresh = new Map<string, number>();
    for (const { owner, name, calls, atMs } of rows) {
      let other = this.#others.get(owner);
      if (other === undefined) {
        other = { untilMs: 0, seenAtMs: 0, calls: new Map() };
        this.#others.set(owner, other);
      }
      const added = calls - (other.calls.get(name) ?? 0);
      other.calls.set(name, calls);
      other.untilMs = Math.max(atMs, other.untilMs);
      other.seenAtMs = elapsedMs;
      if (added > 0) fresh.set(name, (fresh.get(name) ?? 0) + added);
    }
    return fresh;
  }

  /** Writes this process's totals of the names just used. */
  async #publish(used: ReadonlyMap<string, number>, elapsedMs: number): Promise<void> {
    const nowMs = this.#now();
    // Usage that could not be published counts only here: others would charge it late and all at once, and refuse callers who kept to the
    // policy.
    if (this.#isUnsent || elapsedMs - this.#namedAtMs > this.#lifeMs) {
      this.#published.clear();
      this.#names += 1;
      this.#namedAtMs = elapsedMs;
    }
    const owner = this.#ownName;
    const totals = [...used].map(([name, added]) => {
      const calls = (this.#published.get(name) ?? 0) + added;
      this.#published.set(name, calls);
      return { owner, name, calls };
    });
    const statements = Math.ceil(totals.length / NAMES_PER_WRITE);
    this.#isUnsent = statements > 0;
    for (let i = 0; i < statements; i++) {
      // Others read only newer rows, so each statement gets a later time than the one before, whatever the clock does.
      const atMs = Math.max(nowMs - (statements - 1 - i), this.#publishedAtMs + 1);
      this.#publishedAtMs = atMs;
      const rows = totals.slice(i * NAMES_PER_WRITE, (i + 1) * NAMES_PER_WRITE).map((row) => ({ ...row, at_ms: atMs }));
      await this.#store.run((db) =>
        db
          .insertInto("limit_usage")
          .values(rows)
          .onConflict((conflict) =>
            conflict.columns(["owner", "name"]).doUpdateSet((row) => ({
              calls: row.ref("excluded.calls"),
              at_ms: row.ref("excluded.at_ms"),
            })),
          )
          .execute(),
      );
    }
    this.#isUnsent = false;
  }
}

/** The rows of these owners that are newer than those known. */
function newRows(db: Database, owners: readonly string[], known: ReadonlyMap<string, Other>) {
  const [first, ...others] = owners.map((owner) =>
    db
      .selectFrom((nested) =>
        nested
          .selectFrom("limit_usage")
          .select(["owner", "name", "calls", "at_ms as atMs"])
          .where("owner", "=", owner)
          .where("at_ms", ">", known.get(owner)?.untilMs ?? 0)
          // Only one index has this order, see `DELETE`.
          .orderBy("at_ms")
          .as("of_owner"),
      )
      .selectAll(),
  );
  return others.reduce((query, another) => query.unionAll(another), first!);
}
