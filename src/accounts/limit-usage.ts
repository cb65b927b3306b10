import type { Now } from "../primitives/clock.ts";
import type { Store } from "./store/store.ts";

/** Names not used, and processes not heard of, for so long are forgotten by everyone. */
const FORGET_MS = 60_000;

/** Names told by one statement: PostgreSQL takes 65,535 parameters, of which a name needs four. */
const TOLD_AT_ONCE = 1_000;

/** How processes that share limits tell each other what has been used. */
export interface LimitUsage {
  /**
   * Tells what was used here since the last time, and hears what was used elsewhere: calls by name.
   * @throws TradewireError UPSTREAM_ERROR
   */
  exchange(used: ReadonlyMap<string, number>): Promise<Map<string, number>>;
}

/** A count that only grows, until it is forgotten and begins again. */
interface Count {
  readonly calls: number;
  /** When it last grew, or was last seen. */
  readonly atMs: number;
}

/** @param owner names this process among those that share the store */
export function createLimitUsage(store: Store, owner: string, now: Now): LimitUsage {
  const told = new Map<string, Count>();
  const heard = new Map<string, Count>();
  let first = true;

  return {
    async exchange(used) {
      const atMs = now();
      forgetBefore(told, atMs - FORGET_MS);
      for (const [name, calls] of used) told.set(name, { calls: (told.get(name)?.calls ?? 0) + calls, atMs });
      const rows = [...used.keys()].map((name) => ({ owner, name, calls: told.get(name)!.calls, at_ms: atMs }));
      for (let from = 0; from < rows.length; from += TOLD_AT_ONCE) {
        const some = rows.slice(from, from + TOLD_AT_ONCE);
        await store.run((db) =>
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
      // What others told is heard before it is old enough to delete: their clocks may be behind.
      const others = await store.run((db) =>
        db.selectFrom("limit_usage").select(["owner", "name", "calls"]).where("owner", "!=", owner).execute(),
      );
      await store.run((db) =>
        db
          .deleteFrom("limit_usage")
          .where("at_ms", "<", atMs - FORGET_MS)
          .execute(),
      );
      // What others used before this process began is no business of its buckets.
      const fresh = hear(others, heard, atMs);
      forgetBefore(heard, atMs - FORGET_MS);
      if (!first) return fresh;
      first = false;
      return new Map();
    },
  };
}

/** What the rows tell beyond what was heard before, by name. */
function hear(
  rows: readonly { readonly owner: string; readonly name: string; readonly calls: number }[],
  heard: Map<string, Count>,
  atMs: number,
): Map<string, number> {
  const fresh = new Map<string, number>();
  for (const { owner, name, calls } of rows) {
    const key = `${owner} ${name}`;
    const before = heard.get(key)?.calls ?? 0;
    // A smaller count was forgotten by its owner and has begun again. One that began again and has already outgrown the
    // old one is not told from it: then too few calls are charged, never too many.
    const added = calls < before ? calls : calls - before;
    heard.set(key, { calls, atMs });
    if (added > 0) fresh.set(name, (fresh.get(name) ?? 0) + added);
  }
  return fresh;
}

function forgetBefore(counts: Map<string, Count>, ms: number): void {
  for (const [name, { atMs }] of counts) if (atMs < ms) counts.delete(name);
}
