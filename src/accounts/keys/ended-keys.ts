import type { Now } from "../../primitives/clock.ts";
import type { Store } from "../store/store.ts";

const KEYS_PER_QUERY = 500;

/**
 * At most how often all keys in use are looked up because some key has ended: 50,000 of them take 0.15 s of processor time, and anybody
 * may revoke a key of his own every second. In between, those revoked last are asked for. Milliseconds.
 */
const WHOLE_EVERY_MS = 60_000;

/** How much earlier than the newest revocation seen another may be dated that is seen later: longer than a transaction may take. Milliseconds. */
const LATE_MS = 60_000;

/** Revocations read at once; if there are more, all keys in use are looked up. */
const MOST_REVOKED = 5_000;

interface EndedKeysOptions {
  readonly store: Store;
  /** A monotonic clock in milliseconds. */
  readonly now: Now;
  /** The time of day that revocations are dated by (epoch milliseconds). */
  readonly epochMs: Now;
}

/** Finds the keys that are revoked, or deleted because nobody called with them for so long. */
export class EndedKeys {
  readonly #options: EndedKeysOptions;
  /** The date of the newest revocation seen by the last look; undefined before the first. Epoch milliseconds. */
  #newestAtMs: number | undefined;
  #wholeAtMs = Number.NEGATIVE_INFINITY;
  /** True if a key has ended since all keys in use were last looked up. */
  #owesWhole = false;

  constructor(options: EndedKeysOptions) {
    this.#options = options;
  }

  /** True if all keys in use must be looked up, though no other has ended. */
  get isDue(): boolean {
    return this.#owesWhole && this.#options.now() - this.#wholeAtMs >= WHOLE_EVERY_MS;
  }

  /**
   * Keys that have ended, after some key has: those among the keys in use, or those that were revoked last. One that was revoked by a
   * process whose clock is far behind is among them once all keys in use are looked up again.
   *
   * @param isWhole true if all keys in use are to be looked up
   */
  async sinceLast(inUse: () => Iterable<string>, isWhole: boolean): Promise<readonly string[]> {
    const since = this.#newestAtMs;
    const isRecent = this.#options.now() - this.#wholeAtMs < WHOLE_EVERY_MS;
    if (since !== undefined && isRecent && !isWhole) {
      const sinceMs = this.#believed(since);
      const revoked = await this.#revokedFrom(sinceMs - LATE_MS);
      // A database without the newest revocation seen is a backup, or took over too early: it may lack keys too.
      const isSame = this.#newestAtMs! >= sinceMs;
      if (revoked.length < MOST_REVOKED && isSame) {
        this.#owesWhole = true;
        return revoked;
      }
    }
    const startedAtMs = this.#options.now();
    // First: what is revoked meanwhile is dated later.
    await this.#noteNewest();
    const ended = await this.among([...inUse()]);
    this.#wholeAtMs = startedAtMs;
    this.#owesWhole = false;
    return ended;
  }

  /** Those of the keys that have ended. */
  async among(keyIds: readonly string[]): Promise<readonly string[]> {
    const ended: string[] = [];
    for (let at = 0; at < keyIds.length; at += KEYS_PER_QUERY) {
      const some = keyIds.slice(at, at + KEYS_PER_QUERY);
      const rows = await this.#options.store.run((db) =>
        db.selectFrom("api_keys").select("id").where("id", "in", some).where("revoked_at_ms", "is", null).execute(),
      );
      const live = new Set(rows.map(({ id }) => id));
      ended.push(...some.filter((id) => !live.has(id)));
    }
    return ended;
  }

  async #revokedFrom(atMs: number): Promise<readonly string[]> {
    const rows = await this.#options.store.run((db) =>
      db
        .selectFrom("api_keys")
        .select(["id", "revoked_at_ms as atMs"])
        .where("revoked_at_ms", ">=", atMs)
        .orderBy("revoked_at_ms", "desc")
        .limit(MOST_REVOKED)
        .execute(),
    );
    this.#newestAtMs = rows[0]?.atMs ?? 0;
    return rows.map(({ id }) => id);
  }

  async #noteNewest(): Promise<void> {
    const { newest } = await this.#options.store.run((db) =>
      db
        .selectFrom("api_keys")
        .select(({ fn }) => fn.max("revoked_at_ms").as("newest"))
        .where("revoked_at_ms", "is not", null)
        .executeTakeFirstOrThrow(),
    );
    this.#newestAtMs = Number(newest ?? 0);
  }

  /** A date that is yet to come is of a clock that was set back, or damaged: what is revoked now is dated earlier. */
  #believed(atMs: number): number {
    return Math.min(atMs, this.#options.epochMs());
  }
}
