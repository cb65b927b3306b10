import type { HotMarket, PairMarkets } from "../../../market/port.ts";
import { type Address, compareAddresses } from "../../../primitives/address.ts";
import { BoundTable, type Direction, nextVersion } from "../../../venues/bound-table.ts";
import { LINE_SIZE, leastIn, mostOut, mostRate, type SpotBound } from "../../../venues/spot-bound.ts";
import type { Ask } from "../../../venues/venue.ts";
import type { Leader } from "./leader.ts";
import { compareTied } from "./tied-markets.ts";

/** Up to this many markets without a bound are quoted each time; with more, the pair has no bounds. */
const MOST_UNKNOWN = 4;

/** The bounds of a pair's markets in one direction, from a table: the market objects lie scattered in memory. */
export class PairSpots {
  readonly #direction: Direction;
  #markets: readonly HotMarket[] = [];
  /** By place, the line of each. */
  #lines: Float64Array = new Float64Array(0);
  /** The table of the lines, and how many it had been given when they were last looked at. */
  #bounds: BoundTable | undefined;
  #writes = 0;
  #unknown = 0;
  /** Bound of each market for the last ask; higher is better. */
  #promises = new Float64Array(0);
  /** Places of the markets; those picked so far first, in order. */
  #order: number[] = [];
  #picked = 0;
  /** By place, which of the markets wins a tie: the least. Undefined before the first tie. */
  #ranks: Uint16Array | undefined;

  constructor(direction: Direction) {
    this.#direction = direction;
  }

  get markets(): readonly HotMarket[] {
    return this.#markets;
  }

  /** False if too many markets have no bound. */
  get isKnown(): boolean {
    return this.#unknown <= MOST_UNKNOWN;
  }

  /** The best of their bounds for a small input, for a unit of it. */
  get mostRate(): number {
    let most = 0;
    for (let place = 0; place < this.#markets.length; place++) most = Math.max(most, this.rateAt(place));
    return most;
  }

  /** The bound of the market at the place for a small input, for a unit of it. Infinity if unknown. */
  rateAt(place: number): number {
    return mostRate(this.#lines, place * LINE_SIZE);
  }

  /** Takes in the markets that have changed, and finds the bounds that the table lacks. */
  renew({ markets, versions: known, bounds }: PairMarkets, inMint: Address): void {
    // Changes since then may have overwritten lines of this answer.
    if (this.#markets === markets && this.#writes === this.#bounds!.writes) return;
    this.#markets = markets;
    const versions = known ?? markets.map(nextVersion);
    const table = this.#begin(bounds ?? new BoundTable(markets.length));
    const direction = this.#direction;
    const written = table.versionsOf(direction);
    const lines = table.linesOf(direction);
    let unknown = 0;
    for (let place = 0; place < versions.length; place++) {
      const version = versions[place]!;
      if (written[place] !== version) {
        const hot = markets[place]!;
        const spot = spotOf(hot);
        const line = hot.market.mints[0] === inMint ? spot?.from0 : spot?.from1;
        table.write(direction, place, version, line, spot?.rounding ?? 0);
      }
      if (lines[place * LINE_SIZE] === Number.POSITIVE_INFINITY) unknown++;
    }
    this.#writes = table.writes;
    this.#lines = lines;
    this.#unknown = unknown;
  }

  /** Begins anew with another table: the markets at its places are others. */
  #begin(table: BoundTable): BoundTable {
    if (table === this.#bounds) return table;
    const { length } = this.#markets;
    this.#bounds = table;
    this.#promises = new Float64Array(length);
    this.#order = Array.from({ length }, (_, place) => place);
    this.#ranks = undefined;
    return table;
  }

  /** Bounds all markets for an ask. */
  bound({ mode, amount }: Ask): this {
    const size = Number(amount);
    const promises = this.#promises;
    const lines = this.#lines;
    const isExactIn = mode === "exactIn";
    for (let place = 0, at = 0; place < promises.length; place++, at += LINE_SIZE)
      promises[place] = isExactIn ? mostOut(lines, at, size) : -leastIn(lines, at, size);
    this.#picked = 0;
    return this;
  }

  /** The place of the market that comes `rank`-th by promise, from 0; of equals the one that wins a tie. Asked for in order. */
  pick(rank: number): number {
    const order = this.#order;
    if (rank < this.#picked) return order[rank]!;
    const promises = this.#promises;
    let best = rank;
    let most = promises[order[rank]!]!;
    for (let at = rank + 1; at < order.length; at++) {
      const promise = promises[order[at]!]!;
      if (promise < most || (promise === most && !this.#winsTie(order[at]!, order[best]!))) continue;
      best = at;
      most = promise;
    }
    const place = order[best]!;
    order[best] = order[rank]!;
    order[rank] = place;
    this.#picked = rank + 1;
    return place;
  }

  #winsTie(place: number, other: number): boolean {
    this.#ranks ??= ranksOf(this.#markets);
    return this.#ranks[place]! < this.#ranks[other]!;
  }

  /** True if neither the market at the place nor any that is picked after it comes before the best so far. */
  endsAt(place: number, ask: Ask, leader: Leader): boolean {
    const least = ask.mode === "exactIn" ? Number(leader.value) : -Number(leader.value);
    return (
      this.#promises[place]! < least ||
      (this.isBeaten(place, ask, leader) && this.#losesTies(this.#promises[place]!, least))
    );
  }

  /**
   * True if all markets to be picked that promise enough promise as much as a beaten one. Picked before them, that one wins its ties with
   * them.
   */
  #losesTies(beaten: number, least: number): boolean {
    for (let rank = this.#picked; rank < this.#order.length; rank++) {
      const place = this.#order[rank]!;
      const promise = this.#promises[place]!;
      if (promise < least) continue;
      if (promise !== beaten || this.#markets[place]!.venue.spot?.takesLess === true) return false;
    }
    return true;
  }

  /** True if the market at the place alone cannot come before the best: it gives no more, and loses the tie. */
  isBeaten(place: number, { mode }: Ask, { hot: leader, value: best }: Leader): boolean {
    const hot = this.#markets[place]!;
    if (mode !== "exactIn" || hot.venue.spot?.takesLess === true) return false;
    return this.#promises[place]! < Number(best + 1n) && compareTied(leader, hot) < 0;
  }
}

/** By place, the place of each in the order of tied markets: it depends on no state. */
function ranksOf(markets: readonly HotMarket[]): Uint16Array {
  const order = [...markets.keys()].sort((a, b) => compareTied(markets[a]!, markets[b]!));
  const ranks = new Uint16Array(markets.length);
  for (const [rank, place] of order.entries()) ranks[place] = rank;
  return ranks;
}

function spotOf(hot: HotMarket): SpotBound | undefined {
  try {
    return hot.spot;
  } catch {
    // Its quote gives the reason.
    return undefined;
  }
}

/** By line of the pair, or by the pair: of the lower mint for the higher, and the other way. */
const spotsByPair = new WeakMap<object, [PairSpots | undefined, PairSpots | undefined]>();

/** The bounds of a pair's markets in the direction of an ask; undefined if too few have one. Good until the next call for it. */
export function pairSpotsOf(
  pair: PairMarkets,
  { inMint, outMint }: Pick<Ask, "inMint" | "outMint">,
): PairSpots | undefined {
  const owner = pair.line ?? pair;
  let both = spotsByPair.get(owner);
  if (both === undefined) {
    both = [undefined, undefined];
    spotsByPair.set(owner, both);
  }
  const direction: Direction = compareAddresses(inMint, outMint) < 0 ? 0 : 1;
  const spots = both[direction] ?? new PairSpots(direction);
  both[direction] = spots;
  spots.renew(pair, inMint);
  return spots.isKnown ? spots : undefined;
}
