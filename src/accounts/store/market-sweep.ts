import { sql } from "kysely";
import type { Store } from "./store.ts";

/** Subjects looked at by each half of a step, which takes 1.2 ms in SQLite with 500,000 of them (median of 200 steps; at most 11). */
const SUBJECTS_PER_STEP = 500;

/**
 * Forgets markets of subjects that were not searched for a long time: the pair of a token in use is searched every few hours.
 * Walks through the index some subjects at a time, again and again, so a large one is never read at once. A search goes before
 * its markets: one that is left without them would say that there are none.
 */
export class MarketSweep {
  readonly #store: Store;
  readonly #lifeMs: number;
  /** The last subjects looked at; empty: a walk begins. */
  readonly #reached = { market_searches: "", markets: "" };

  /** @param lifeMs how long a subject is kept after its last search. Milliseconds; 0: for ever */
  constructor(store: Store, lifeMs: number) {
    this.#store = store;
    this.#lifeMs = lifeMs;
  }

  /** Looks at the next subjects. @param nowMs epoch milliseconds @throws TradewireError UPSTREAM_ERROR */
  async step(nowMs: number): Promise<void> {
    if (this.#lifeMs === 0) return;
    await this.#sweepSearches(nowMs - this.#lifeMs);
    await this.#sweepMarkets(nowMs - this.#lifeMs);
  }

  async #sweepSearches(oldMs: number): Promise<void> {
    const page = await this.#nextPage("market_searches");
    if (page === undefined) return;
    await this.#store.run((db) =>
      db
        .deleteFrom("market_searches")
        .where("subject", ">", page.after)
        .where("subject", "<=", page.last)
        .where("at_ms", "<", oldMs)
        .execute(),
    );
  }

  async #sweepMarkets(oldMs: number): Promise<void> {
    const page = await this.#nextPage("markets");
    if (page === undefined) return;
    await this.#store.run((db) =>
      db
        .deleteFrom("markets")
        .where("subject", ">", page.after)
        .where("subject", "<=", page.last)
        .where("found_at_ms", "<", oldMs)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom("market_searches")
                .select("market_searches.subject")
                .whereRef("market_searches.subject", "=", "markets.subject"),
            ),
          ),
        )
        .execute(),
    );
  }

  /** Goes on to the table's next subjects. @returns undefined once if there are no more: then the walk begins anew */
  async #nextPage(table: "market_searches" | "markets"): Promise<{ after: string; last: string } | undefined> {
    const after = this.#reached[table];
    const last = await this.#lastOf(table, after);
    this.#reached[table] = last ?? "";
    return last === undefined ? undefined : { after, last };
  }

  /** The last of the table's next subjects; undefined if there are no more. */
  async #lastOf(table: "market_searches" | "markets", after: string): Promise<string | undefined> {
    const next = await this.#store.run((db) =>
      db
        .selectFrom((page) =>
          page
            .selectFrom(table)
            .select("subject")
            .distinct()
            .where("subject", ">", after)
            .orderBy("subject")
            .limit(SUBJECTS_PER_STEP)
            .as("page"),
        )
        .select(sql<string | null>`max(subject)`.as("last"))
        .executeTakeFirst(),
    );
    return next?.last ?? undefined;
  }
}
