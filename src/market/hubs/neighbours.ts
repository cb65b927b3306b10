import type { Address } from "../../primitives/address.ts";
import type { IndexedMarket } from "../search/market-index.ts";

/** Upper bounds: mints whose neighbours are kept, and neighbours of one mint. */
const MOST_MINTS = 20_000;
const MOST_NEIGHBOURS = 32;

/** The mints that a mint trades against, as shown by searches of the chain and the index. */
export class Neighbours {
  readonly #known = new Map<Address, readonly Address[]>();

  /** Notes all known markets of a mint, against any other mint. */
  note(mint: Address, markets: readonly Pick<IndexedMarket, "mints">[]): void {
    const counts = new Map<Address, number>();
    for (const { mints } of markets) {
      const [a, b] = mints;
      const other = a === mint ? b : b === mint ? a : undefined;
      if (other !== undefined && other !== mint) counts.set(other, (counts.get(other) ?? 0) + 1);
    }
    const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, MOST_NEIGHBOURS);
    this.#known.delete(mint);
    this.#known.set(
      mint,
      most.map(([other]) => other),
    );
    if (this.#known.size > MOST_MINTS) this.#known.delete(this.#known.keys().next().value!);
  }

  /** True if its markets were searched for. */
  has(mint: Address): boolean {
    return this.#known.has(mint);
  }

  /** The mints it trades against, those with most markets first. The number of markets does not show their depth. */
  of(mint: Address): readonly Address[] {
    return this.#known.get(mint) ?? [];
  }
}
