import type { Now } from "../primitives/clock.ts";
import type { Store } from "./store/store.ts";

/** For how long a process counts under one name, and its rows are kept, at least, and in exchanges: others read each before that. */
const LEAST_LIFE_MS = 60_000;
const LIFE_EXCHANGES = 3;

/** Names written per statement: PostgreSQL allows 65,535 parameters, and a name needs four. */
const NAMES_PER_WRITE = 1_000;

/** How processes that share limits exchange what has been used. */
export interface LimitUsage {
  /**
   * Publishes the calls counted here since the last exchange, and returns those counted elsewhere, by name.
   * @throws TradewireError UPSTREAM_ERROR
   */
  exchange(used: ReadonlyMap<string, number>): Promise<Map<string, number>>;
}

/** What was received of a count, which only grows. */
interface Count {
  readonly calls: number;
  /** When it was last seen to grow, by the monotonic clock of this process. Milliseconds. */
  readonly atMs: number;
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

/** What was read of another process. */
interface Other {
  /** Its newest row, by its own clock (epoch milliseconds). */
  readonly untilMs: number;
  /** When a newer row was last read, by the monotonic clock of this process. */
  readonly seenAtMs: number;
}

class StoredLimitUsage implements LimitUsage {
  readonly #store: Store;
  readonly #owner: string;
  readonly #now: Now;
  /** Calls counted under the present name. */
  readonly #published = new Map<string, number>();
  readonly #received = new Map<string, Count>();
  readonly #elapsedMs: () => number;
  /** For how long it counts under one name, and keeps what it wrote. Others keep what they received for twice as long. */
  readonly #lifeMs: number;
  #names = 0;
  #namedAtMs: number;
  /** By owner. */
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

  /** Every name of this process, as a pattern. */
  get #ownNames(): string {
    return `${this.#owner}:%`;
  }

  async exchange(used: ReadonlyMap<string, number>): Promise<Map<string, number>> {
    const elapsedMs = this.#elapsedMs();
    await this.#publish(used, elapsedMs);
    const others = await this.#readOthers();
    // Last of what may fail: what was noted as received is charged.
    await this.#deleteOld(elapsedMs);
    const fresh = receive(others, this.#received, elapsedMs);
    forgetBefore(this.#received, elapsedMs - 2 * this.#lifeMs);
    for (const { owner, atMs } of others) {
      this.#others.set(owner, { untilMs: Math.max(atMs, this.#others.get(owner)?.untilMs ?? 0), seenAtMs: elapsedMs });
    }
    if (!this.#isFirst) return fresh;
    // Usage from before this process started does not count against its buckets.
    this.#isFirst = false;
    return new Map();
  }

  /**
   * Each process deletes its own old rows, by the clock that dated them, and all of a process that has written nothing for a while. A
   * clock that is ahead would take for old what the others have yet to read.
   */
  async #deleteOld(elapsedMs: number): Promise<void> {
    const silent = [...this.#others].filter(([, { seenAtMs }]) => seenAtMs < elapsedMs - 2 * this.#lifeMs);
    await this.#store.run((db) =>
      db
        .deleteFrom("limit_usage")
        .where((where) =>
          where.or([
            where.and([where("owner", "like", this.#ownNames), where("at_ms", "<", this.#now() - this.#lifeMs)]),
            ...silent.map(([owner, { untilMs }]) =>
              where.and([where("owner", "=", owner), where("at_ms", "<=", untilMs)]),
            ),
          ]),
        )
        .execute(),
    );
    for (const [owner] of silent) this.#others.delete(owner);
  }

  /** Rows written since the last exchange: its cost depends on current traffic, not on that of the last minute. */
  #readOthers() {
    return this.#store.run((db) =>
      db
        .selectFrom("limit_usage")
        .select(["owner", "name", "calls", "at_ms as atMs"])
        .where("owner", "not like", this.#ownNames)
        .where((where) =>
          where.and(
            [...this.#others].map(([owner, { untilMs }]) =>
              where.or([where("owner", "!=", owner), where("at_ms", ">", untilMs)]),
            ),
          ),
        )
        .execute(),
    );
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
    const owner = `${this.#owner}:${this.#names}`;
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

/** Calls in the rows beyond those received before, by name. */
function receive(
  rows: readonly { readonly owner: string; readonly name: string; readonly calls: number }[],
  received: Map<string, Count>,
  atMs: number,
): Map<string, number> {
  const fresh = new Map<string, number>();
  for (const { owner, name, calls } of rows) {
    const key = `${owner} ${name}`;
    const added = calls - (received.get(key)?.calls ?? 0);
    received.set(key, { calls, atMs });
    if (added > 0) fresh.set(name, (fresh.get(name) ?? 0) + added);
  }
  return fresh;
}

function forgetBefore(counts: Map<string, Count>, ms: number): void {
  for (const [name, { atMs }] of counts) if (atMs < ms) counts.delete(name);
}
