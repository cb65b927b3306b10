import type { Now } from "../primitives/clock.ts";
import type { Store } from "./store.ts";

/** Rows of processes that have not been heard of for so long are deleted, and not counted before that. */
const FORGET_MS = 60_000;

/** How processes that share limits tell each other what has been used. */
export interface LimitUsage {
  /**
   * Tells what was used here since the last time, and hears what was used elsewhere: calls by name.
   * @throws TradewireError UPSTREAM_ERROR
   */
  exchange(used: ReadonlyMap<string, number>): Promise<Map<string, number>>;
}

/** @param owner names this process among those that share the store */
export function createLimitUsage(store: Store, owner: string, now: Now): LimitUsage {
  const told = new Map<string, number>();
  const heard = new Map<string, number>();
  let first = true;

  return {
    async exchange(used) {
      const atMs = now();
      for (const [name, calls] of used) told.set(name, (told.get(name) ?? 0) + calls);
      const rows = [...used.keys()].map((name) => ({ owner, name, calls: told.get(name)!, at_ms: atMs }));
      const others = await store.run(async (db) => {
        if (rows.length > 0) {
          await db
            .insertInto("limit_usage")
            .values(rows)
            .onConflict((conflict) =>
              conflict.columns(["owner", "name"]).doUpdateSet((row) => ({
                calls: row.ref("excluded.calls"),
                at_ms: row.ref("excluded.at_ms"),
              })),
            )
            .execute();
        }
        await db
          .deleteFrom("limit_usage")
          .where("at_ms", "<", atMs - FORGET_MS)
          .execute();
        return db.selectFrom("limit_usage").select(["owner", "name", "calls"]).where("owner", "!=", owner).execute();
      });
      // What others used before this process began is no business of its buckets.
      const fresh = difference(others, heard, first);
      first = false;
      return fresh;
    },
  };
}

function difference(
  rows: readonly { readonly owner: string; readonly name: string; readonly calls: number }[],
  heard: Map<string, number>,
  first: boolean,
): Map<string, number> {
  const fresh = new Map<string, number>();
  const seen = new Set<string>();
  for (const { owner, name, calls } of rows) {
    const key = `${owner} ${name}`;
    seen.add(key);
    const added = calls - (heard.get(key) ?? 0);
    heard.set(key, calls);
    if (!first && added > 0) fresh.set(name, (fresh.get(name) ?? 0) + added);
  }
  for (const key of heard.keys()) if (!seen.has(key)) heard.delete(key);
  return fresh;
}
