import type { Now } from "../primitives/clock.ts";
import type { Store } from "./store/store.ts";

/** Counts that have not changed for this long are forgotten by every process. */
const FORGET_MS = 60_000;

/** Counts received are kept for longer than their owner keeps them, so that none is taken for a new one. */
const FORGET_RECEIVED_MS = 2 * FORGET_MS;

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

/** A count that only grows, until it is forgotten and restarts. */
interface Count {
  readonly calls: number;
  /** When it last grew, or was last seen, by the monotonic clock of this process. Milliseconds. */
  readonly atMs: number;
}

/**
 * Shares counts through the store.
 *
 * @param owner names this process among those that share it
 * @param now a wall clock, by which this process dates what it writes
 * @param elapsedMs a monotonic clock: no step of the wall clock makes what others wrote old
 */
export function createLimitUsage(store: Store, owner: string, now: Now, elapsedMs: () => number): LimitUsage {
  return new StoredLimitUsage(store, owner, now, elapsedMs);
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
  readonly #published = new Map<string, Count>();
  readonly #received = new Map<string, Count>();
  readonly #elapsedMs: () => number;
  /** By owner. */
  readonly #others = new Map<string, Other>();
  #publishedAtMs = 0;
  #isFirst = true;

  constructor(store: Store, owner: string, now: Now, elapsedMs: () => number) {
    this.#store = store;
    this.#owner = owner;
    this.#now = now;
    this.#elapsedMs = elapsedMs;
  }

  async exchange(used: ReadonlyMap<string, number>): Promise<Map<string, number>> {
    const elapsedMs = this.#elapsedMs();
    await this.#publish(used, elapsedMs);
    const others = await this.#readOthers();
    // Last of what may fail: what was noted as received is charged.
    await this.#deleteOld(elapsedMs);
    const fresh = receive(others, this.#received, elapsedMs);
    forgetBefore(this.#received, elapsedMs - FORGET_RECEIVED_MS);
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
    const silent = [...this.#others].filter(([, { seenAtMs }]) => seenAtMs < elapsedMs - FORGET_RECEIVED_MS);
    await this.#store.run((db) =>
      db
        .deleteFrom("limit_usage")
        .where((where) =>
          where.or([
            where.and([where("owner", "=", this.#owner), where("at_ms", "<", this.#now() - FORGET_MS)]),
            ...silent.map(([owner, { untilMs }]) =>
              where.and([where("owner", "=", owner), where("at_ms", "<=", untilMs)]),
            ),
          ]),
        )
        .execute(),
    );
    for (const [owner] of silent) this.#others.delete(owner);
  }

  /** Rows written since the last exchange: what it costs follows the traffic of now, not of the last minute. */
  #readOthers() {
    return this.#store.run((db) =>
      db
        .selectFrom("limit_usage")
        .select(["owner", "name", "calls", "at_ms as atMs"])
        .where("owner", "!=", this.#owner)
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
    forgetBefore(this.#published, elapsedMs - FORGET_MS);
    const totals = [...used].map(([name, added]) => {
      const calls = (this.#published.get(name)?.calls ?? 0) + added;
      this.#published.set(name, { calls, atMs: elapsedMs });
      return { owner: this.#owner, name, calls };
    });
    const statements = Math.ceil(totals.length / NAMES_PER_WRITE);
    for (let i = 0; i < statements; i++) {
      // Others read what is newer than what they have: each statement has a later time than the one before, whatever the clock does.
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
    const before = received.get(key)?.calls ?? 0;
    // A smaller count was forgotten by its owner and restarted. A restarted count that has already outgrown the old one
    // looks the same: then too few calls are charged, never too many.
    const added = calls < before ? calls : calls - before;
    received.set(key, { calls, atMs });
    if (added > 0) fresh.set(name, (fresh.get(name) ?? 0) + added);
  }
  return fresh;
}

function forgetBefore(counts: Map<string, Count>, ms: number): void {
  for (const [name, { atMs }] of counts) if (atMs < ms) counts.delete(name);
}
