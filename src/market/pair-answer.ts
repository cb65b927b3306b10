import type { MarketWatch } from "./market-watch.ts";
import type { HotMarket, MarketFault, PairMarkets } from "./port.ts";
import { VersionedMarkets } from "./watch/versioned-markets.ts";

/** Up to this many markets, each is priced: leaving one unread gains nothing. */
const READ_WHOLE = 4;

/** The answer of one of this many watches. */
function glanceAt(watch: MarketWatch, watches: number): ReturnType<MarketWatch["read"]> {
  return watches > READ_WHOLE ? watch.glance() : watch.read();
}

/** What an answer states beside the markets. */
interface AnswerTerms {
  readonly faults: readonly MarketFault[];
  readonly searched: readonly string[];
  readonly line: object;
  /** A market was found to be closed. */
  readonly onClosed: () => void;
}

/** The venues of the faults that withhold a market, each once; undefined if there are none. */
function withheldOf(faults: readonly MarketFault[]): readonly string[] | undefined {
  const doubtful = faults.filter(({ isWithheld }) => isWithheld === true).map(({ venue }) => venue);
  return doubtful.length === 0 ? undefined : [...new Set(doubtful)];
}

/** The answer built from a pair's markets. After changes, only the changed markets are examined for the next one. */
export class PairAnswer implements PairMarkets {
  readonly markets: readonly HotMarket[];
  readonly versions: readonly number[];
  readonly faults: readonly MarketFault[];
  readonly searched: readonly string[];
  readonly withheld: readonly string[] | undefined;
  readonly line: object;
  readonly bounds: VersionedMarkets["bounds"];
  readonly #all: VersionedMarkets;
  /** Those of its markets, in their order. */
  readonly #watches: readonly MarketWatch[];
  /** False if a market still lacked accounts: it is then checked again. */
  readonly #isWhole: boolean;

  private constructor(
    all: VersionedMarkets,
    terms: Pick<PairAnswer, "faults" | "searched" | "withheld" | "line">,
    watches: readonly MarketWatch[],
    isWhole: boolean,
  ) {
    this.#all = all;
    this.markets = all.markets;
    this.versions = all.versions;
    this.bounds = all.bounds;
    this.faults = terms.faults;
    this.searched = terms.searched;
    this.withheld = terms.withheld;
    this.line = terms.line;
    this.#watches = watches;
    this.#isWhole = isWhole;
  }

  /** False while one of the watches lacks accounts. */
  static isPossibleOf(watches: readonly MarketWatch[]): boolean {
    return watches.every((watch) => glanceAt(watch, watches.length).kind !== "lacking");
  }

  /** The answer of all watches; one that still lacks accounts is a fault. */
  static of(watches: readonly MarketWatch[], { searched, line, onClosed, faults: known }: AnswerTerms): PairAnswer {
    const markets: HotMarket[] = [];
    const faults: MarketFault[] = [];
    const hot: MarketWatch[] = [];
    let isWhole = true;
    for (const watch of watches) {
      const reading = glanceAt(watch, watches.length);
      if (reading.kind === "hot") {
        hot.push(watch);
        markets.push(reading.hot);
      } else if (reading.kind === "fault") {
        faults.push(reading.fault);
        if (reading.closed) onClosed();
      } else {
        isWhole = false;
        const reason = "needs more rounds of reads than are allowed";
        faults.push({ venue: watch.venue.id, market: watch.address.toString(), reason });
      }
    }
    // Tens of thousands of answers are kept: what is equal is shared.
    const all = VersionedMarkets.of(markets.slice());
    const terms = { faults: faults.length === 0 ? known : [...known, ...faults], searched, line };
    const withheld = withheldOf(terms.faults);
    return new PairAnswer(all, { ...terms, withheld }, hot.length === watches.length ? watches : hot, isWhole);
  }

  /** Its markets, to be changed into those of the next answer. */
  copyMarkets(): VersionedMarkets {
    return this.#all.copy();
  }

  /** The place of the watch's market; -1 if it has none. */
  placeOf(watch: MarketWatch): number {
    return this.#watches.indexOf(watch);
  }

  /**
   * The answer after these watches have changed; undefined if all must be read.
   *
   * @param next its markets, with what is known of them; written to
   */
  after(changed: Iterable<MarketWatch>, next: VersionedMarkets = this.copyMarkets()): PairAnswer | undefined {
    if (!this.#isWhole) return undefined;
    for (const watch of changed) {
      const place = this.placeOf(watch);
      if (place < 0) return undefined;
      const reading = glanceAt(watch, this.#watches.length);
      if (reading.kind !== "hot") return undefined;
      next.put(place, reading.hot);
    }
    return new PairAnswer(next, this, this.#watches, true);
  }
}
