import { BoundTable, nextVersion } from "../../venues/bound-table.ts";
import type { SpotBound } from "../../venues/spot-bound.ts";
import type { HotMarket } from "../port.ts";

/** The markets of an answer. A version tells whether a market has changed without a look at the market, which is mostly in no cache. */
export class VersionedMarkets {
  readonly markets: HotMarket[];
  /** By place of the market; the same number for no other state of any market. */
  readonly versions: number[];
  /** Copies share it. */
  readonly bounds: BoundTable;

  /** No place of it is ever written to. */
  static readonly #none = new VersionedMarkets([], [], new BoundTable(0));

  private constructor(markets: HotMarket[], versions: number[], bounds: BoundTable) {
    this.markets = markets;
    this.versions = versions;
    this.bounds = bounds;
  }

  static of(markets: HotMarket[]): VersionedMarkets {
    if (markets.length === 0) return VersionedMarkets.#none;
    const versions = markets.map(nextVersion);
    return new VersionedMarkets(markets, versions, new BoundTable(markets.length));
  }

  copy(): VersionedMarkets {
    return new VersionedMarkets(this.markets.slice(), this.versions.slice(), this.bounds);
  }

  /** Writes another state of a market into its place. */
  put(place: number, hot: HotMarket): void {
    this.markets[place] = hot;
    this.versions[place] = nextVersion();
  }

  /** The same, with its bound. @param isLowerFirst true if the market's first mint is the pair's lower one */
  putBound(place: number, hot: HotMarket, bound: SpotBound, isLowerFirst: boolean): void {
    this.put(place, hot);
    this.bounds.writeBound(place, this.versions[place]!, bound, isLowerFirst);
  }
}
