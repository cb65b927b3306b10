import type { AccountReader } from "../../chain/port.ts";
import type { Now } from "../../primitives/clock.ts";
import type { OneATurn } from "../../primitives/turns/one-a-turn.ts";
import type { Account } from "../../solana/account.ts";
import type { AccountFilter, Venue } from "../../venues/venue.ts";
import type { SearchCaller } from "../port.ts";
import { filtersOf, pairFilters, type SearchSubject } from "./search-subject.ts";
import type { SearchTurns } from "./search-turns.ts";

/** Findings of one venue's filters for one subject. */
export interface VenueFinding {
  readonly accounts: readonly Account[];
  /** Why they may be incomplete: no node serves the search, its answer is too large, or it failed. */
  readonly trouble?: "refused" | "oversized" | { readonly error: unknown };
}

/** Findings of one search of the chain, by venue; venues that are searched pair by pair are left out. */
export interface SubjectFindings {
  readonly byVenue: ReadonlyMap<string, VenueFinding>;
  /** When it was sent (epoch milliseconds). */
  readonly readAtMs: number;
  /** True if it brought every market of the subject that filters can find. */
  readonly isWhole: boolean;
}

interface SubjectSearchesOptions {
  readonly reader: AccountReader;
  readonly venues: readonly Venue[];
  readonly turns: SearchTurns;
  /** Gives each search of a venue's accounts a turn of the loop. */
  readonly pace: OneATurn;
  readonly now: Now;
}

/** How long findings serve the subject's other pairs, which are usually requested at the same moment. Milliseconds. */
const KEEP_MS = 2_000;

const NONE: readonly Account[] = [];

/** A search that has begun. */
export interface BegunSearch {
  /** Never rejects. */
  readonly findings: Promise<SubjectFindings>;
}

/** Callers that wait for the beginning of one subject's search. */
interface Begun {
  readonly start: PromiseWithResolvers<void>;
  waiting: number;
}

/** Searches of the chain, each made once however many pairs and callers wait for it. */
export class SubjectSearches {
  readonly #options: SubjectSearchesOptions;
  readonly #searches = new Map<string, BegunSearch>();
  /** End times of finished searches, by key and in order (epoch milliseconds). */
  readonly #endedAtMs = new Map<string, number>();
  readonly #begun = new Map<string, Begun>();

  constructor(options: SubjectSearchesOptions) {
    this.#options = options;
  }

  /** The search of the subject that is in flight or has just ended. */
  current({ key }: SearchSubject): BegunSearch | undefined {
    this.#forgetOld();
    return this.#searches.get(key);
  }

  /**
   * Waits for the caller's turn, unless another caller's comes first, and begins. The turn lasts as long as the search.
   * @throws TradewireError RATE_LIMIT_EXCEEDED, OVERLOADED if the turn would come too late
   */
  async begin(subject: SearchSubject, caller: SearchCaller | undefined): Promise<BegunSearch> {
    const current = this.current(subject);
    if (current !== undefined) return current;
    const begun = this.#waitFor(subject);
    try {
      const endTurn = await this.#options.turns.next(caller, begun.start.promise);
      const other = this.current(subject);
      if (other === undefined) return this.#begin(subject, endTurn);
      endTurn?.();
      return other;
    } finally {
      begun.waiting -= 1;
      if (begun.waiting === 0) this.#begun.delete(subject.key);
    }
  }

  #waitFor({ key }: SearchSubject): Begun {
    let begun = this.#begun.get(key);
    if (begun === undefined) {
      begun = { start: Promise.withResolvers(), waiting: 0 };
      this.#begun.set(key, begun);
    }
    begun.waiting += 1;
    return begun;
  }

  #begin(subject: SearchSubject, endTurn: (() => void) | undefined): BegunSearch {
    const search: BegunSearch = { findings: this.#search(subject) };
    this.#searches.set(subject.key, search);
    this.#begun.get(subject.key)?.start.resolve();
    search.findings.then(() => {
      this.#endedAtMs.set(subject.key, this.#options.now());
      endTurn?.();
    });
    return search;
  }

  /** Does not reject: a failure becomes the finding of its venue. */
  async #search(subject: SearchSubject): Promise<SubjectFindings> {
    const { venues, pace, now } = this.#options;
    const readAtMs = now();
    const venueIds: string[] = [];
    const searching: Promise<VenueFinding>[] = [];
    let isWhole = true;
    for (const venue of venues) {
      try {
        const filters = filtersOf(venue, subject);
        if (filters === undefined) isWhole &&= pairFilters(venue, subject.pair).length === 0;
        else
          for (const filter of filters) {
            // The code that led here, or the previous filter, has used up this turn.
            await pace.next();
            searching.push(this.#filterOne(filter, true));
            venueIds.push(venue.id);
          }
      } catch {
        // The search of the pair meets the same fault, and reports it.
        isWhole = false;
      }
    }
    const parts = await Promise.all(searching);
    const byVenue = new Map<string, VenueFinding>();
    for (let i = 0; i < parts.length; i++) {
      const known = byVenue.get(venueIds[i]!);
      byVenue.set(venueIds[i]!, known === undefined ? parts[i]! : joined(known, parts[i]!));
      isWhole &&= parts[i]!.trouble === undefined;
    }
    return { byVenue, readAtMs, isWhole };
  }

  /**
   * The accounts that any of the filters brings, in parts if an answer is too large for one call. Each filter but the first is sent in a
   * turn of its own.
   *
   * @param filters one or more
   */
  async filter(filters: readonly AccountFilter[]): Promise<VenueFinding> {
    const { pace } = this.#options;
    const searching = filters.map(async (one, place) => {
      if (place > 0) await pace.next();
      return this.#filterOne(one, false);
    });
    return (await Promise.all(searching)).reduce(joined);
  }

  #filterOne(filter: AccountFilter, atOnce: boolean): Promise<VenueFinding> {
    return this.#options.reader.fetchProgramAccounts({ ...filter, atOnce }).then(asFinding, asTrouble);
  }

  #forgetOld(): void {
    const sinceMs = this.#options.now() - KEEP_MS;
    for (const [key, endedAtMs] of this.#endedAtMs) {
      if (endedAtMs > sinceMs) return;
      this.#endedAtMs.delete(key);
      this.#searches.delete(key);
    }
  }
}

const asFinding = (found: readonly Account[] | "refused" | "oversized"): VenueFinding =>
  typeof found === "string" ? { accounts: NONE, trouble: found } : { accounts: found };

const asTrouble = (error: unknown): VenueFinding => ({ accounts: NONE, trouble: { error } });

/** Both together; the trouble of the first, if it has one. */
function joined(one: VenueFinding, other: VenueFinding): VenueFinding {
  const trouble = one.trouble ?? other.trouble;
  const accounts = other.accounts.length === 0 ? one.accounts : one.accounts.concat(other.accounts);
  return trouble === undefined ? { accounts } : { accounts, trouble };
}
