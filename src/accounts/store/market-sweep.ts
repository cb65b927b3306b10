import { sql } from "kysely";
import type { Store } from "./store.ts";

/** Subjects looked at by each half of a step: both halves together take a few milliseconds of the database. */
const SUBJECTS_PER_STEP = 500;

/**
 * Forgets markets of subjects that were not searched for a long time: the pair of a token in use is searched every few hours.
 * Walks through the index some subjects at a time, again and again, so a large one is never read at once. A search goes before
 * its markets: one that is left without them would say that there are none.
 */
export class MarketSweep {
  readonly #store: Store;
  readonly #lifeMs: number;
  #searchesFrom = "";
  #marketsFrom = "";

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
    const from = this.#searchesFrom;
    const to = await this.#lastOf("market_searches", from);
    this.#searchesFrom = to ?? "";
    if (to === undefined) return;
    await this.#store.run((db) =>
      db
        .deleteFrom("market_searches")
        .where("subject", ">", from)
        .where("subject", "<=", to)
        .where("at_ms", "<", oldMs)
        .execute(),
    );
  }

  async #sweepMarkets(oldMs: number): Promise<void> {
    const from = this.#marketsFrom;
    const to = await this.#lastOf("markets", from);
    this.#marketsFrom = to ?? "";
    if (to === undefined) return;
    await this.#store.run((db) =>
      db
        .deleteFrom("markets")
        .where("subject", ">", from)
        .where("subject", "<=", to)
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

  /** The last of the table's next subjects; undefined if there are no more. */
  async #lastOf(table: "market_searches" | "markets", from: string): Promise<string | undefined> {
    const next = await this.#store.run((db) =>
      db
        .selectFrom((page) =>
          page
            .selectFrom(table)
            .select("subject")
            .distinct()
            .where("subject", ">", from)
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
