import type { SpotBound } from "../../venues/spot-bound.ts";
import type { Market, Venue } from "../../venues/venue.ts";
import type { HotMarket, LeanRefusal, MarketBacking } from "../port.ts";

/** Facts about a live market beside its state. */
type MarketFacts = Required<
  Pick<HotMarket, "venue" | "market" | "slot" | "backing" | "unitsScale" | "refusesLean" | "failed">
>;

/** A state or the means to read it, and likewise a bound. */
interface MarketState {
  readonly state?: unknown;
  readonly spot?: SpotBound | undefined;
  /** Reads the state, if there is none yet. @throws TradewireError if it cannot be */
  readonly read?: () => unknown;
  /** Finds the bound, if there is none yet. */
  readonly bound?: ((state: unknown) => SpotBound | undefined) | undefined;
}

/** A live market of one answer: its state is decoded, and its bound computed, when first asked for. */
export class AnsweredMarket implements HotMarket {
  readonly venue: Venue;
  readonly market: Market;
  readonly slot: bigint;
  readonly backing: MarketBacking | undefined;
  readonly unitsScale: number;
  readonly refusesLean: LeanRefusal | undefined;
  readonly failed: (error: unknown) => void;
  #state: unknown;
  #read: (() => unknown) | undefined;
  #spot: SpotBound | undefined;
  #bound: ((state: unknown) => SpotBound | undefined) | undefined;

  constructor(
    { venue, market, slot, backing, unitsScale, refusesLean, failed }: MarketFacts,
    { state, spot, read, bound }: MarketState,
  ) {
    this.venue = venue;
    this.market = market;
    this.slot = slot;
    this.backing = backing;
    this.unitsScale = unitsScale;
    this.refusesLean = refusesLean;
    this.failed = failed;
    this.#state = state;
    this.#read = read;
    this.#spot = spot;
    this.#bound = bound;
  }

  /** @throws TradewireError if it could not be read, each time */
  get state(): unknown {
    if (this.#read !== undefined) {
      this.#state = this.#read();
      this.#read = undefined;
    }
    return this.#state;
  }

  /** True if its state is decoded. Looks at the object of the state. */
  get isDecoded(): boolean {
    return typeof this.#state === "object" && this.#state !== null;
  }

  /** False if it cannot be read. */
  get isTimeless(): boolean {
    try {
      return this.venue.isTimeless?.(this.state) === true;
    } catch {
      return false;
    }
  }

  get spot(): SpotBound | undefined {
    if (this.#bound !== undefined) {
      this.#spot = this.#bound(this.state);
      this.#bound = undefined;
    }
    return this.#spot;
  }
}
