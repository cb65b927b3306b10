import type { Address } from "../primitives/address.ts";
import type { Account } from "../solana/account.ts";
import type { Mint } from "../solana/token/mint.ts";
import type { BoundTable } from "../venues/bound-table.ts";
import type { SpotBound } from "../venues/spot-bound.ts";
import type { Market, MintPair, Venue } from "../venues/venue.ts";

/** A market with its decoded state, fresh enough to build on. */
export interface HotMarket {
  readonly venue: Venue;
  readonly market: Market;
  /** It may be decoded only when it is asked for. @throws TradewireError if that fails */
  readonly state: unknown;
  /** Slot of the newest account behind the state. */
  readonly slot: bigint;
  /** True if quotes of the state depend on no time: see `Venue.isTimeless`. */
  readonly isTimeless?: boolean;
  /** The most that its trades give; absent: not known. */
  readonly spot?: SpotBound | undefined;
  /** How its quotes are backed by execution; absent: not at all. */
  readonly backing?: MarketBacking | undefined;
  /** Factor on the compute bound of its instructions, if the deployed program takes more than the table says. */
  readonly unitsScale?: number;
  /** Which leaner forms of trades the deployed program does not make, see `Venue.older` and `Venue.lean`; absent: it makes all. */
  readonly refusesLean?: LeanRefusal | undefined;
  /**
   * Reports that the venue's code failed on this market with something that is no refusal; absent: nobody listens. The trade goes
   * elsewhere. The market stays for others: the failure may depend on one caller's amount.
   */
  readonly failed?: (error: unknown) => void;
}

/** The older instructions alone, or the leaving out of arrays too. */
export type LeanRefusal = "older" | "all";

/** How the quotes of a market are backed by running the deployed programs on it. */
export interface MarketBacking {
  /** Slot of the newest deployment among its programs; undefined before the first check. */
  readonly programSlot: bigint | undefined;
  /** Slot of the last check; undefined before the first. */
  readonly shadowSlot: bigint | undefined;
  /** True if that check, on the programs deployed now, agreed to the base unit. */
  readonly checked: boolean;
}

/** A market or venue that cannot serve a pair, and why: callers get these with NO_ROUTE. */
export interface MarketFault {
  readonly venue: string;
  readonly market: string | undefined;
  readonly reason: string;
  /** True if it is only withheld: its quotes differ from what the deployed program does, or may. */
  readonly isWithheld?: boolean;
  /** True if this service will never offer it to such a request. */
  readonly isForGood?: boolean;
}

/** The markets of a pair at one time, and why further ones cannot serve it. */
export interface PairMarkets {
  readonly markets: readonly HotMarket[];
  readonly faults: readonly MarketFault[];
  /** Venues that were searched for markets of the pair. */
  readonly searched: readonly string[];
  /** Venues with a market among the faults that is withheld; absent if there is none. */
  readonly withheld?: readonly string[] | undefined;
  /** The same for all answers of one pair: what is derived of an answer and holds for most of the next is kept by it. */
  readonly line?: object;
  /** By place of a market, a number that no other state of any market has. */
  readonly versions?: readonly number[];
  /** Bounds of markets by place and version; answers that share it have the same markets at its places. Only with `versions`. */
  readonly bounds?: BoundTable;
}

/** Whose call makes a search necessary: cold searches are budgeted by key and address. A call's state is one. */
export interface SearchCaller {
  /** The client's address. */
  readonly peer: string;
  readonly principal: { readonly keyId: string } | undefined;
}

/** The mints that a trade may pass through. */
export interface HubChoice {
  readonly mints: readonly Address[];
  /** False if the hubs of one of its mints were never measured: `findHubs` does. */
  readonly isKnown: boolean;
}

/** The live account view as the trade stages see it. A warm answer is synchronous: no promise, no I/O. */
export interface Markets {
  /** Mints that a trade may pass through between two markets; absent: SOL and USDC. */
  readonly hubMints?: readonly Address[];
  /** The hubs of a trade by what is deep and live, from memory; absent: `hubMints` serve every trade. */
  hubsOf?(pair: MintPair): HubChoice;
  /** Measures the hubs of a trade whose pair has been searched, if they are not known; waits for two seconds at most. Never rejects. */
  findHubs?(pair: MintPair, caller?: SearchCaller): Promise<void>;
  /**
   * Markets where the pair trades. A cold pair is discovered and read first, and kept fresh afterwards.
   * @throws TradewireError STATE_STALE, UPSTREAM_ERROR; RATE_LIMIT_EXCEEDED, OVERLOADED if the search would have to wait too long
   */
  marketsOf(pair: MintPair, caller?: SearchCaller): PairMarkets | Promise<PairMarkets>;
  /**
   * What is in memory of a pair; undefined if nothing is, or it is stale. Never waits: the call makes the pair hot, and missing
   * accounts are read in the background. "late" if the state is from before a landed transaction that has changed it: it is
   * being read, and `marketsOf` waits for that. Undefined too for ten seconds after such a wait in vain.
   */
  knownMarkets(pair: MintPair, caller?: SearchCaller): PairMarkets | "late" | undefined;
  /** Reports that no market of the pair can make a trade: it is searched again in the background, at most once a second. */
  searchSoon(pair: MintPair): void;
  /** Reads what the build of a wallet's trade is about to read, if it is in memory; changes nothing. See `ReadAhead`. */
  readAhead?(pair: MintPair, wallet: Address): void;
  /**
   * The mint, or null when there is no such mint.
   * @throws TradewireError UPSTREAM_ERROR; RATE_LIMIT_EXCEEDED, OVERLOADED if too many unknown mints are being asked for
   */
  mint(address: Address, caller?: SearchCaller): Mint | null | Promise<Mint | null>;
  /**
   * One of the wallet's own accounts (SOL balance, token accounts), kept live from the first call. `undefined` while it is not
   * in memory; to wait for it, call `warm`.
   */
  account(address: Address): Account | null | undefined;
  /**
   * Makes accounts hot and resolves after their first read.
   * @param mayWait true if the read may wait some milliseconds for another one to share a call with
   */
  warm(addresses: readonly Address[], mayWait?: boolean): Promise<void>;
  /** Reads accounts again across the network, such as before a request is refused because of what is in memory. */
  refresh(addresses: readonly Address[]): Promise<void>;
}
