import type { Address } from "../primitives/address.ts";
import type { Account } from "../solana/account.ts";
import type { Mint } from "../solana/mint.ts";
import type { Market, MintPair, Venue } from "../venues/venue.ts";

/** A market with its decoded state, fresh enough to build on. */
export interface HotMarket {
  readonly venue: Venue;
  readonly market: Market;
  readonly state: unknown;
  /** Slot of the newest account behind the state. */
  readonly slot: bigint;
}

/** What was looked at for a pair and found wanting: told to the caller with NO_ROUTE. */
export interface MarketFault {
  readonly venue: string;
  readonly market: string | undefined;
  readonly reason: string;
}

export interface PairMarkets {
  readonly markets: readonly HotMarket[];
  readonly faults: readonly MarketFault[];
  /** Venues that were searched for markets of the pair. */
  readonly searched: readonly string[];
}

/** The live account view, as the trade stages use it. A warm answer is synchronous: no promise, no I/O. */
export interface Markets {
  /** Markets where the pair trades. Cold pairs are discovered, read and kept fresh from then on. @throws TradewireError STATE_STALE, UPSTREAM_ERROR */
  marketsOf(pair: MintPair): PairMarkets | Promise<PairMarkets>;
  /**
   * What is in memory of a pair; undefined while that is nothing. Never waits: asking makes the pair hot, and what is missing
   * or old is read in the background.
   */
  knownMarkets(pair: MintPair): PairMarkets | undefined;
  /** Told when no market of a pair could make a trade: it is searched again in the background, not more often than once a second. */
  searchSoon(pair: MintPair): void;
  /** The mint, or null when there is no such mint. @throws TradewireError UPSTREAM_ERROR */
  mint(address: Address): Mint | null | Promise<Mint | null>;
  /**
   * The wallet's own accounts (SOL balance, token accounts): kept live once asked for. `undefined` where not known yet;
   * asking makes them hot. Whoever has to know waits with `warm`.
   */
  account(address: Address): Account | null | undefined;
  /** Makes accounts hot and waits for their first read. */
  warm(addresses: readonly Address[]): Promise<void>;
  /** Reads accounts again across the network, as when an answer is about to be refused on what is remembered. */
  refresh(addresses: readonly Address[]): Promise<void>;
}
