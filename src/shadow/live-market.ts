import type { Address } from "../primitives/address.ts";
import type { AccountView } from "../solana/account.ts";
import type { MintPair, Venue } from "../venues/venue.ts";
import type { MarketRecord } from "./verdicts.ts";

/** A live market, as the market room keeps it. */
export interface LiveMarket {
  readonly venue: Venue;
  readonly address: Address;
  readonly pair: MintPair;
  /** The accounts behind its state. */
  readonly held: Iterable<Address>;
  readonly view: AccountView;
  /** Called when its standing has changed. */
  judged(): void;
}

/** One market under check. */
export interface CheckedEntry {
  readonly live: LiveMarket;
  readonly record: MarketRecord;
  readonly extras: Set<Address>;
  readonly programs: Set<Address>;
  /** Checks begun. */
  turn: number;
  checkedAtMs: number;
  /** Earliest next try of a market that differs or cannot be checked. Epoch milliseconds. */
  retryAtMs: number;
  retryMs: number;
  /** Resolves after the first check. */
  readonly first: PromiseWithResolvers<void>;
}
