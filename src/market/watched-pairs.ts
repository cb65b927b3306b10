import { type Address, compareAddresses } from "../primitives/address.ts";
import { AddressTable } from "../primitives/addresses/address-table.ts";
import { HUB_MINTS } from "../solana/hub-mints.ts";
import { SOL_MINT } from "../solana/programs.ts";
import type { MintPair } from "../venues/venue.ts";
import { GradualSweep } from "./gradual-sweep.ts";
import { type PairContext, WatchedPair } from "./watched-pair.ts";

/** True if the pair of two mints is in the row of the first, false if in that of the second. */
function isRowOf(first: Address, second: Address): boolean {
  const isHub = HUB_MINTS.includes(first);
  return isHub === HUB_MINTS.includes(second) ? compareAddresses(first, second) < 0 : isHub;
}

/** The pairs in use. */
export class WatchedPairs {
  /** Pairs with SOL, which most trades use, by the other mint. */
  readonly #withSol = new AddressTable<WatchedPair>("pair");
  /** Other pairs, by the hub of the two or else the lower mint, then by the other: a token alone in its row would take a map for itself. */
  readonly #rows = new Map<Address, Map<Address, WatchedPair>>();
  readonly #context: PairContext;
  readonly #sweep = new GradualSweep();
  #size = 0;
  #filled = 0;
  /** The last requested pair: a trade requests its own more than once. */
  #last: WatchedPair | undefined;

  constructor(context: Omit<PairContext, "onFilled">) {
    this.#context = {
      ...context,
      onFilled: () => {
        this.#filled += 1;
      },
    };
  }

  /** Counts pairs that had no market and got one. */
  get filled(): number {
    return this.#filled;
  }

  /** The pair of two mints, in either order; created on first use. */
  of(a: Address, b: Address): WatchedPair {
    const last = this.#last;
    if (last !== undefined && (last.pair.a === a ? last.pair.b === b : last.pair.a === b && last.pair.b === a))
      return last;
    const entry = this.#find(a, b) ?? this.#add(compareAddresses(a, b) < 0 ? { a, b } : { a: b, b: a });
    this.#last = entry;
    return entry;
  }

  /** The pair of a mint with SOL, if it is in use. */
  withSol(mint: Address): WatchedPair | undefined {
    return this.#withSol.get(mint);
  }

  #find(a: Address, b: Address): WatchedPair | undefined {
    if (a === SOL_MINT) return this.#withSol.get(b);
    if (b === SOL_MINT) return this.#withSol.get(a);
    return isRowOf(a, b) ? this.#rows.get(a)?.get(b) : this.#rows.get(b)?.get(a);
  }

  #add(pair: MintPair): WatchedPair {
    const { a, b } = pair;
    this.#size += 1;
    if (a === SOL_MINT || b === SOL_MINT) {
      const withSol = new WatchedPair(pair, this.#context, this.#withSol);
      this.#withSol.set(a === SOL_MINT ? b : a, withSol);
      return withSol;
    }
    const entry = new WatchedPair(pair, this.#context);
    const [first, second] = isRowOf(a, b) ? [a, b] : [b, a];
    let row = this.#rows.get(first);
    if (row === undefined) {
      row = new Map();
      this.#rows.set(first, row);
    }
    row.set(second, entry);
    return entry;
  }

  /** False once the pair was dropped, even if its mints are in use again under a new entry. */
  has(entry: WatchedPair): boolean {
    return this.#find(entry.pair.a, entry.pair.b) === entry;
  }

  /**
   * Starts to drop pairs that are not in use or being read: those unused since `idleSinceMs`, those without a market since
   * `emptySinceMs` (of `sinceStart`), and the longest unused above `maxPairs`. Thousands are dropped over several turns of the
   * loop.
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
      size: this.#size,
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
    this.#size -= 1;
    if (a === SOL_MINT || b === SOL_MINT) {
      this.#withSol.delete(a === SOL_MINT ? b : a);
      return;
    }
    const [first, second] = isRowOf(a, b) ? [a, b] : [b, a];
    const row = this.#rows.get(first);
    row?.delete(second);
    if (row?.size === 0) this.#rows.delete(first);
  }

  *all(): Generator<WatchedPair, void> {
    yield* this.#withSol.values();
    for (const row of this.#rows.values()) yield* row.values();
  }

  size(): number {
    return this.#size;
  }

  close(): void {
    this.#sweep.close();
    this.#withSol.detach();
  }
}
