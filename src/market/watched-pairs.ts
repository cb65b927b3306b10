import { type Address, compareAddresses } from "../primitives/address.ts";
import { GradualSweep } from "./gradual-sweep.ts";
import { type PairContext, WatchedPair } from "./watched-pair.ts";

/** The pairs in use. */
export class WatchedPairs {
  /** By the lower mint, then the higher. */
  readonly #rows = new Map<Address, Map<Address, WatchedPair>>();
  readonly #context: PairContext;
  readonly #sweep = new GradualSweep();
  #size = 0;
  #filled = 0;
  /** The pair asked for last: a trade asks for its own more than once. */
  #last: WatchedPair | undefined;

  constructor(context: Omit<PairContext, "onFilled">) {
    this.#context = {
      ...context,
      onFilled: () => {
        this.#filled += 1;
      },
    };
  }

  /** How often a pair that had no market has got one. */
  get filled(): number {
    return this.#filled;
  }

  /** The pair of two mints, in either order; created on first use. */
  of(a: Address, b: Address): WatchedPair {
    const last = this.#last;
    if (last !== undefined && (last.pair.a === a ? last.pair.b === b : last.pair.a === b && last.pair.b === a))
      return last;
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
      this.#size += 1;
    }
    this.#last = entry;
    return entry;
  }

  /** False once the pair was dropped, even if its mints are in use again under a new entry. */
  has(entry: WatchedPair): boolean {
    return this.#rows.get(entry.pair.a)?.get(entry.pair.b) === entry;
  }

  /**
   * Begins to drop pairs that are neither in use nor being read: those unused since `idleSinceMs`, those without a market since
   * `emptySinceMs` (epoch milliseconds), and the longest unused above `maxPairs`. Of thousands, some only in the next turns of
   * the loop.
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
    this.#sweep.begin<WatchedPair>({
      items: this.all(),
      state(entry) {
        if (entry.reads !== undefined || entry.isResearching) return "busy";
        return entry.lastUsedMs < (entry.isEmpty ? emptySinceMs : idleSinceMs) ? "unused" : "used";
      },
      lastUsedMs: (entry) => entry.lastUsedMs,
      drop: (entries) => {
        for (const entry of entries) this.#drop(entry);
      },
      limit: maxPairs,
    });
  }

  #drop(entry: WatchedPair): void {
    entry.release();
    if (this.#last === entry) this.#last = undefined;
    const row = this.#rows.get(entry.pair.a);
    row?.delete(entry.pair.b);
    if (row?.size === 0) this.#rows.delete(entry.pair.a);
    this.#size -= 1;
  }

  *all(): Generator<WatchedPair, void> {
    for (const row of this.#rows.values()) yield* row.values();
  }

  size(): number {
    return this.#size;
  }

  close(): void {
    this.#sweep.close();
  }
}
