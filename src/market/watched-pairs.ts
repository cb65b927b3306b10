import { type Address, compareAddresses } from "../primitives/address.ts";
import { SOL_MINT } from "../solana/programs.ts";
import { GradualSweep } from "./gradual-sweep.ts";
import { type PairContext, WatchedPair } from "./watched-pair.ts";

/** The pairs in use. */
export class WatchedPairs {
  /** By SOL, or the lower mint of a pair without it, then by the other. */
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
    const outer = outerOf(a, b);
    const inner = outer === a ? b : a;
    let row = this.#rows.get(outer);
    if (row === undefined) {
      row = new Map();
      this.#rows.set(outer, row);
    }
    let entry = row.get(inner);
    if (entry === undefined) {
      entry = new WatchedPair(compareAddresses(a, b) < 0 ? { a, b } : { a: b, b: a }, this.#context);
      row.set(inner, entry);
      this.#size += 1;
    }
    this.#last = entry;
    return entry;
  }

  /** False once the pair was dropped, even if its mints are in use again under a new entry. */
  has(entry: WatchedPair): boolean {
    const { a, b } = entry.pair;
    const outer = outerOf(a, b);
    return this.#rows.get(outer)?.get(outer === a ? b : a) === entry;
  }

  /**
   * Begins to drop pairs that are neither in use nor being read: those unused since `idleSinceMs`, those without a market since
   * `emptySinceMs` (of `sinceStart`), and the longest unused above `maxPairs`. Of thousands, some only in the next turns of
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
    const { a, b } = entry.pair;
    const outer = outerOf(a, b);
    const row = this.#rows.get(outer);
    row?.delete(outer === a ? b : a);
    if (row?.size === 0) this.#rows.delete(outer);
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

/** The mint whose row a pair is in. Most trades are for SOL, whose row is in the processor's caches, as no other mint's bytes are. */
function outerOf(a: Address, b: Address): Address {
  if (a === SOL_MINT || b === SOL_MINT) return SOL_MINT;
  return compareAddresses(a, b) < 0 ? a : b;
}
