import { type Address, compareAddresses } from "../primitives/address.ts";
import { leastUsed } from "./least-used.ts";
import { type PairContext, WatchedPair } from "./watched-pair.ts";

/** The pairs in use. */
export class WatchedPairs {
  /** By the lower mint, then the higher. */
  readonly #rows = new Map<Address, Map<Address, WatchedPair>>();
  readonly #context: PairContext;

  constructor(context: PairContext) {
    this.#context = context;
  }

  /** The pair of two mints, in either order; created on first use. */
  of(a: Address, b: Address): WatchedPair {
    const [low, high] = compareAddresses(a, b) < 0 ? [a, b] : [b, a];
    let row = this.#rows.get(low);
    if (row === undefined) {
      row = new Map();
      this.#rows.set(low, row);
    }
    let entry = row.get(high);
    if (entry === undefined) {
      entry = new WatchedPair({ a: low, b: high }, this.#context);
      row.set(high, entry);
    }
    return entry;
  }

  /** False once the pair was dropped, even if its mints are in use again under a new entry. */
  has(entry: WatchedPair): boolean {
    return this.#rows.get(entry.pair.a)?.get(entry.pair.b) === entry;
  }

  /**
   * Drops pairs that are neither in use nor being read: those unused since `idleSinceMs`, those without a market since
   * `emptySinceMs` (epoch milliseconds), and the longest unused above `maxPairs`.
   */
  sweep({
    idleSinceMs,
    emptySinceMs,
    maxPairs,
  }: {
    readonly idleSinceMs: number;
    readonly emptySinceMs: number;
    readonly maxPairs: number;
  }): void {
    const kept: WatchedPair[] = [];
    for (const entry of this.all()) {
      if (entry.reads !== undefined || entry.isResearching) continue;
      if (entry.lastUsedMs < (entry.isEmpty ? emptySinceMs : idleSinceMs)) this.#drop(entry);
      else kept.push(entry);
    }
    for (const entry of leastUsed(kept, maxPairs)) this.#drop(entry);
  }

  #drop(entry: WatchedPair): void {
    entry.release();
    const row = this.#rows.get(entry.pair.a);
    row?.delete(entry.pair.b);
    if (row?.size === 0) this.#rows.delete(entry.pair.a);
  }

  all(): readonly WatchedPair[] {
    return [...this.#rows.values()].flatMap((row) => [...row.values()]);
  }

  size(): number {
    let count = 0;
    for (const row of this.#rows.values()) count += row.size;
    return count;
  }
}
