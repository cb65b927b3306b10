import type { Now } from "../primitives/clock.ts";
import type { Store } from "./store/store.ts";

/** Counts that have not changed for this long are forgotten by every process. */
const FORGET_MS = 60_000;

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
  /** When it last grew, or was last seen. */
  readonly atMs: number;
}

/** Shares counts through the store. @param owner names this process among those that share it */
export function createLimitUsage(store: Store, owner: string, now: Now): LimitUsage {
  return new StoredLimitUsage(store, owner, now);
}

class StoredLimitUsage implements LimitUsage {
  readonly #store: Store;
  readonly #owner: string;
  readonly #now: Now;
  readonly #published = new Map<string, Count>();
  readonly #received = new Map<string, Count>();
  #isFirst = true;

  constructor(store: Store, owner: string, now: Now) {
    this.#store = store;
    this.#owner = owner;
    this.#now = now;
  }

  async exchange(used: ReadonlyMap<string, number>): Promise<Map<string, number>> {
    const atMs = this.#now();
    await this.#publish(used, atMs);
    // Read the others' rows before deleting old ones: their clocks may be behind.
    const others = await this.#store.run((db) =>
      db.selectFrom("limit_usage").select(["owner", "name", "calls"]).where("owner", "!=", this.#owner).execute(),
    );
    await this.#store.run((db) =>
      db
        .deleteFrom("limit_usage")
        .where("at_ms", "<", atMs - FORGET_MS)
        .execute(),
    );
    const fresh = receive(others, this.#received, atMs);
    forgetBefore(this.#received, atMs - FORGET_MS);
    if (!this.#isFirst) return fresh;
    // Usage from before this process started does not count against its buckets.
    this.#isFirst = false;
    return new Map();
  }

  /** Writes this process's totals of the names just used. */
  async #publish(used: ReadonlyMap<string, number>, atMs: number): Promise<void> {
    forgetBefore(this.#published, atMs - FORGET_MS);
    const rows = [...used].map(([name, added]) => {
      const calls = (this.#published.get(name)?.calls ?? 0) + added;
      this.#published.set(name, { calls, atMs });
      return { owner: this.#owner, name, calls, at_ms: atMs };
    });
    for (let from = 0; from < rows.length; from += NAMES_PER_WRITE) {
      const some = rows.slice(from, from + NAMES_PER_WRITE);
      await this.#store.run((db) =>
        db
          .insertInto("limit_usage")
          .values(some)
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
