import { TradewireError } from "../errors/tradewire-error.ts";

/** Use of a venue since the start of this process. A call or trade counts once, however many of the venue's markets it has. */
export interface VenueCounts {
  /** Quotes answered with a route over it, those of streams included. */
  readonly quotes: number;
  /** Builds answered with a route over it. */
  readonly builds: number;
  /** Trades over it that landed and succeeded. */
  readonly landed: number;
  /** Quotes and builds from which a market of it was left out, because it differs from the deployed program or may. */
  readonly withheld: number;
  /** Quotes and builds that ended without a route, although markets of it were tried: too large, too small, closed. */
  readonly refused: number;
  /** Trades that landed and failed in its program because the price had moved. */
  readonly slippage: number;
  /** Trades that landed and failed in its program for another reason. */
  readonly failed: number;
}

/** Failures counted by reason. */
export const VENUE_FAILURES = ["withheld", "refused", "slippage", "failed"] as const;

type Counts = { -readonly [K in keyof VenueCounts]: VenueCounts[K] };
/** A quote or a built trade. */
interface Answer {
  readonly route: readonly { readonly venue: string }[];
  readonly withheld?: readonly string[] | undefined;
}

/** A transaction that landed: the venues of its route and, if it failed, why and in whose program. */
interface Landed {
  readonly venues: readonly string[];
  readonly failure: { readonly code: string; readonly venue: string | undefined } | undefined;
}

/** Counts the use of each venue: plain numbers in memory, for every venue. */
export class VenueActivity {
  readonly #counts: ReadonlyMap<string, Counts>;

  /** @param venues ids of all venues */
  constructor(venues: readonly string[]) {
    const none = { quotes: 0, builds: 0, landed: 0, withheld: 0, refused: 0, slippage: 0, failed: 0 };
    this.#counts = new Map(venues.map((id) => [id, { ...none }]));
  }

  /** The counts as they stand, by venue. */
  counts(): ReadonlyMap<string, VenueCounts> {
    return new Map(Array.from(this.#counts, ([id, counts]) => [id, { ...counts }]));
  }

  /** Runs a quote or build and counts its result. @throws whatever it throws */
  observe<T extends Answer>(kind: "quotes" | "builds", answer: () => T | Promise<T>): T | Promise<T> {
    let answered: T | Promise<T>;
    try {
      answered = answer();
    } catch (error) {
      throw this.#noteFailure(error);
    }
    if (!(answered instanceof Promise)) return this.#noteAnswer(kind, answered);
    return answered.then(
      (late) => this.#noteAnswer(kind, late),
      (error: unknown) => {
        throw this.#noteFailure(error);
      },
    );
  }

  /** Counts a transaction that landed. */
  noteLanded({ venues, failure }: Landed): void {
    if (failure === undefined) for (const venue of venues) this.#add(venue, "landed");
    else if (failure.venue !== undefined)
      this.#add(failure.venue, failure.code === "SLIPPAGE_EXCEEDED" ? "slippage" : "failed");
  }

  #noteAnswer<T extends Answer>(kind: "quotes" | "builds", answer: T): T {
    const { route, withheld } = answer;
    for (let i = 0; i < route.length; i++) {
      const { venue } = route[i]!;
      let isFirst = true;
      for (let j = 0; j < i && isFirst; j++) isFirst = route[j]!.venue !== venue;
      if (isFirst) this.#add(venue, kind);
    }
    if (withheld !== undefined) for (const venue of withheld) this.#add(venue, "withheld");
    return answer;
  }

  #noteFailure(error: unknown): unknown {
    const tried = error instanceof TradewireError ? error.facts.tried : undefined;
    for (const venue of tried?.refused ?? []) this.#add(venue, "refused");
    for (const venue of tried?.withheld ?? []) this.#add(venue, "withheld");
    return error;
  }

  #add(venue: string, field: keyof Counts): void {
    const counts = this.#counts.get(venue);
    if (counts !== undefined) counts[field] += 1;
  }
}
