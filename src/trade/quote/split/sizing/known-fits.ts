import type { HotMarket } from "../../../../market/port.ts";
import type { Address } from "../../../../primitives/address.ts";

/** Transaction capacities that are remembered at most. */
const MOST_CAPACITIES = 16;
const NOTHING_LEFT_OUT: ReadonlySet<Address> = new Set();

/** What fits into transactions of one capacity, for any wallet. */
interface KnownFit {
  /** The most paths that may fit. */
  readonly paths: number;
  /** Markets without which divisions fit. */
  readonly without: ReadonlySet<Address>;
  /** Value of the best route that fits no transaction, divided by that of the route trades start with; at least 1. */
  readonly unfitWorth: number;
}

const EVERYTHING_FITS: KnownFit = { paths: Number.POSITIVE_INFINITY, without: NOTHING_LEFT_OUT, unfitWorth: 1 };

/** Which divisions of trades of about one size fit into no wallet's transaction, by transaction capacity, and what is lost by that. */
export class KnownFits {
  readonly #fits = new Map<string, KnownFit>();
  /** Kinds of transactions that hold no lighter division either. */
  readonly #withoutLighter = new Set<string>();

  /** The markets to leave out so that divisions fit, as far as known. */
  leftOut(capacity: string | undefined): ReadonlySet<Address> {
    return this.#fitOf(capacity).without;
  }

  /** Notes that no wallet's transaction holds a division with these markets. @returns false if that was known */
  leavesOut(capacity: string | undefined, markets: ReadonlySet<HotMarket>): boolean {
    const without = new Set(Array.from(markets, ({ market }) => market.address));
    const known = this.#fitOf(capacity).without;
    if (known.size === without.size && [...without].every((address) => known.has(address))) return false;
    this.#learn(capacity, { without });
    return true;
  }

  /** The most paths that may fit into a transaction, as far as known. */
  widest(capacity: string | undefined): number {
    return this.#fitOf(capacity).paths;
  }

  /** Notes that this many paths fit into no transaction. @returns false if that was known */
  neverFits(capacity: string | undefined, paths: number): boolean {
    if (paths > this.widest(capacity)) return false;
    this.#learn(capacity, { paths: paths - 1 });
    return true;
  }

  /** True if divisions without some markets were found to fit no transaction of this kind either. */
  hasNoLighter(kind: string): boolean {
    return this.#withoutLighter.has(kind);
  }

  /** Notes that divisions without these markets fit no transaction of this kind. */
  findsNoLighter(kind: string): void {
    if (this.#withoutLighter.size >= MOST_CAPACITIES) this.#withoutLighter.clear();
    this.#withoutLighter.add(kind);
  }

  /** Value of the best route that fits no wallet, divided by that of the route that trades begin with, as far as known; at least 1. */
  unfitWorth(capacity: string | undefined): number {
    return this.#fitOf(capacity).unfitWorth;
  }

  /** Notes that trades begin with another route from now on, and the previous route's value divided by that of the new one. */
  beginsBelow(capacity: string | undefined, worth: number): void {
    this.#learn(capacity, { unfitWorth: Math.max(1, this.unfitWorth(capacity) * worth) });
  }

  /** Forgets what fits: the markets have changed too much for it. */
  forgets(capacity: string | undefined): void {
    if (capacity !== undefined) this.#fits.delete(capacity);
  }

  #fitOf(capacity: string | undefined): KnownFit {
    return (capacity === undefined ? undefined : this.#fits.get(capacity)) ?? EVERYTHING_FITS;
  }

  #learn(capacity: string | undefined, learned: Partial<KnownFit>): void {
    if (capacity === undefined) return;
    const known = this.#fitOf(capacity);
    if (this.#fits.size >= MOST_CAPACITIES && !this.#fits.has(capacity)) this.#fits.clear();
    this.#fits.set(capacity, { ...known, ...learned });
  }
}
