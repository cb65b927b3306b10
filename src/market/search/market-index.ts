import type { Address } from "../../primitives/address.ts";

/** A market as the index keeps it: enough to read it and to know its mints. */
export interface IndexedMarket {
  readonly venue: string;
  readonly address: Address;
  /** In any order. */
  readonly mints: readonly [Address, Address];
}

/** What the index knows about a subject: a mint or a pair. Times are epoch milliseconds. */
export interface IndexEntry {
  readonly markets: readonly IndexedMarket[];
  /** The last complete search of the chain for it, and the first that found markets; absent: there may be further markets. */
  readonly searched?: { readonly venues: readonly string[]; readonly firstAtMs: number; readonly atMs: number };
}

/**
 * Markets found before, by this process or others, across restarts. It saves searches of the chain and nothing else: each
 * market is read from the chain before it is used.
 */
export interface MarketIndex {
  /** The entries of these subjects, without those it does not have; undefined if it does not answer in time. */
  find(keys: readonly string[]): Promise<ReadonlyMap<string, IndexEntry> | undefined>;
  /** Adds markets of a subject; with `searched`, notes a search of these venues as well. Nobody waits for it. */
  add(
    key: string,
    markets: readonly IndexedMarket[],
    searched?: { readonly venues: readonly string[]; readonly atMs: number },
  ): void;
  /** Forgets markets that are gone. Nobody waits for it. */
  remove(addresses: readonly Address[]): void;
}

/** Knows nothing and keeps nothing: every cold pair is searched on the chain. */
export const NO_INDEX: MarketIndex = {
  find: async () => undefined,
  add: () => {},
  remove: () => {},
};
