import type { Address } from "../primitives/address.ts";
import { maxOf } from "../primitives/integer.ts";
import type { Account, AccountView, ChainClock } from "../solana/account.ts";
import type { Instruction } from "../solana/instruction.ts";
import type { SpotBounds } from "./spot-bound.ts";

/** Public, permanent name of a venue, such as "raydium_cpmm": `platform` on every wire. Its folder is named alike, with dashes. */
export type VenueId = string;

/** Two mints to be traded for one another, in no particular order. SOL is the wrapped-SOL mint. */
export interface MintPair {
  readonly a: Address;
  readonly b: Address;
}

/** Accounts of `program` to filter, for markets whose address cannot be derived. */
export interface AccountFilter {
  readonly kind: "filter";
  readonly program: Address;
  readonly dataSize?: number;
  readonly memcmp: readonly { readonly offset: number; readonly bytes: Uint8Array }[];
}

/** Where markets of a pair may be. Data only: the market layer reads. */
export type MarketSearch =
  /** Addresses at which a market account may exist. */
  | { readonly kind: "probe"; readonly addresses: readonly Address[] }
  /**
   * Addresses of markets that the venue's filters find too: read only if a filter fails or is refused. A function, because
   * deriving them takes milliseconds.
   */
  | { readonly kind: "guess"; readonly addresses: () => readonly Address[] }
  | AccountFilter;

/** Bytes of an account from `first` up to, and without, `end`. */
export type ByteRange = readonly [first: number, end: number];

/** One market: an account of a venue where two mints trade. Venues extend it with what their instructions need. */
export interface Market {
  readonly venue: VenueId;
  readonly address: Address;
  /** The two mints, in the venue's own order. SOL is the wrapped-SOL mint, even if lamports move. */
  readonly mints: readonly [Address, Address];
  /** True if the SOL side moves as lamports of the wallet, so that nothing is wrapped or unwrapped. */
  readonly nativeSol: boolean;
}

/** exactIn: `amount` is what the wallet gives. exactOut: `amount` is what the wallet gets. */
export type SwapMode = "exactIn" | "exactOut";

/** A request for a quote of one market. Amounts are the wallet's side: what leaves it and what arrives in it. */
export interface Ask {
  readonly mode: SwapMode;
  readonly inMint: Address;
  readonly outMint: Address;
  /** Base units of `inMint` for exactIn, of `outMint` for exactOut. */
  readonly amount: bigint;
  /** The clock at which the trade is expected to run; fees may depend on its time or epoch. */
  readonly clock: ChainClock;
  /** True if only the amounts matter, as for bounds: the quote's `priceImpact` may then be 0. */
  readonly amountsOnly?: boolean;
}

/** The amounts of a trade as the program would execute it now, to the base unit. */
export interface Quote<Fill = unknown> {
  readonly mode: SwapMode;
  readonly inMint: Address;
  readonly outMint: Address;
  /** Leaves the wallet, including all venue, creator and transfer fees. */
  readonly inAmount: bigint;
  /** Arrives in the wallet, after all venue, creator and transfer fees. */
  readonly outAmount: bigint;
  /** Fraction by which the trade is worse than the price before it, fees excluded. 0 ≤ impact ≤ 1. */
  readonly priceImpact: number;
  /** What `swap` needs besides the amounts, so that nothing is priced twice. */
  readonly fill: Fill;
}

/** How far a price may move, either way, within the accounts of a lean swap. Ticks of concentrated liquidity are of this size. */
export const LEAN_MARGIN_BPS = 100;

/** A trade as its signed instruction asks for it. */
export interface SignedAsk {
  readonly mode: SwapMode;
  readonly amount: bigint;
  /** exactIn: the least output. exactOut: the most input. Absent: the threshold that the swap was made with. */
  readonly bound?: bigint;
}

/** What a signed swap does on another state than the one it was signed for. */
export interface Replay<State, Fill> {
  readonly made: Quote<Fill>;
  /** The market's state after it, as `traded` answers. */
  readonly left: () => State | undefined;
}

/** The wallet that trades, its token accounts, and how far the price may move. */
export interface SwapTerms {
  readonly wallet: Address;
  /** The wallet's token account of the input mint; for native SOL, its wrapped-SOL address (which need not exist). */
  readonly source: Address;
  /** The wallet's token account of the output mint; for native SOL, its wrapped-SOL address (which need not exist). */
  readonly destination: Address;
  /** exactIn: the least output accepted, as the venue's program checks it. exactOut: the most input. Wallet-side base units. */
  readonly threshold: bigint;
  /** Any number. Spreads write locks if a program accepts one of several accounts, such as fee recipients. */
  readonly salt: number;
  /**
   * True if the account is known to exist: the program need not create it, which saves units and rent. One that a program owns,
   * unless it is to be a system account.
   */
  readonly exists: (address: Address, owner?: "program" | "system") => boolean;
}

/** The instructions of one swap, and what they cost. */
export interface SwapLeg {
  readonly instructions: readonly Instruction[];
  /** Upper bound of compute units used by `instructions`, measured on the program, without a safety margin. */
  readonly computeUnits: number;
  /** Compute units beyond these that the same swap with another salt may take. Absent: none. */
  readonly spareUnits?: number;
  /** Compute units beyond these that the swap may take if the price first moves within its slippage. Absent: none. */
  readonly movedUnits?: number;
  /** Accounts that the program may create at the wallet's expense, with their data sizes: this is rent, not part of the trade. */
  readonly creates: readonly { readonly address: Address; readonly space: number }[];
  /** Accounts that exist and that the instructions enlarge at the wallet's expense. */
  readonly grows?: readonly Growth[];
}

/** An account that grows. */
export interface Growth {
  readonly address: Address;
  /** Data sizes before and after. */
  readonly from: number;
  readonly to: number;
  /** Lamports that it holds as rent: the wallet pays what is missing. Absent: it pays for every added byte. */
  readonly held?: bigint;
}

/** The lamports that the wallet pays for an account that grows. @param rentExemption the rent of an account of so many bytes */
export function rentOfGrowth({ from, to, held }: Growth, rentExemption: (space: number) => bigint): bigint {
  return maxOf(0n, rentExemption(to) - (held ?? rentExemption(from)));
}

/**
 * A trading venue. It describes; the core performs: every member is synchronous and pure, with no RPC, no wall clock and
 * no cache of its own.
 */
export interface Venue<M extends Market = Market, State = unknown, Fill = unknown> {
  readonly id: VenueId;
  readonly programs: readonly Address[];
  /** `memo`: before it pays into an account of Token-2022 that wants a memo with each transfer, the program sends one. */
  readonly supports: Readonly<{ exactOut: boolean; token2022: boolean; memo?: boolean }>;
  /**
   * Instructions that the programs call in a swap at most, as measured, beside those that make accounts or send a memo: the network
   * bounds them. Absent: none.
   */
  readonly calls?: number;
  /** Where markets of the pair may be. */
  search(pair: MintPair): readonly MarketSearch[];
  /**
   * Filters that serve all pairs of a mint at once: those of both mints of a pair find every market that the filters of
   * `search` find, and those of one mint if the other is a hub. Absent: pairs are searched one by one.
   */
  searchMint?(mint: Address): readonly AccountFilter[];
  /**
   * Decodes a market; undefined if the account is not one of this venue. `pair` is the pair it was found for: if an account does
   * not name its own mints, they are proven from the pair by derivation.
   */
  decode(account: Account, pair: MintPair): M | undefined;
  /**
   * Where `decode` reads the account's data, in order: a market stays the same while these bytes, the length and the owner do.
   * Absent: `decode` may read anything.
   */
  readonly decoded?: readonly ByteRange[];
  /** Accounts that `read` needs and `have` lacks; empty if ready. Called again after each round of reads. */
  needs(market: M, have: AccountView): readonly Address[];
  /**
   * The market's state, decoded once per change of its accounts.
   * Mints are among `needs`, so that transfer fees and token programs are known. Asks `have` for every account that `needs` names,
   * unless it throws: if none is missing, nothing is lacking.
   * @throws TradewireError VENUE_DEGRADED if an account is not what the program's layout says
   */
  read(market: M, have: AccountView): State;
  /**
   * Quotes a trade as the program would execute it, to the base unit.
   * @throws TradewireError INSUFFICIENT_LIQUIDITY, NO_ROUTE (paused, completed or not open yet, as the message says),
   *   VALIDATION_ERROR (too small to trade)
   */
  quote(state: State, ask: Ask): Quote<Fill>;
  /**
   * True if a quote of the state, once there is one, is the same at every later slot and second of its epoch: no fee depends on
   * time. Absent: it may change.
   */
  isTimeless?(state: State): boolean;
  /** The most that any trade gives, without a quote. Absent: unknown. */
  readonly spot?: SpotBounds<M, State>;
  /**
   * The state of another market of this venue once the trade of `quote` has been made on `state`: `other` itself if the two
   * markets have nothing in common that prices depend on. Absent: no two markets have.
   */
  after?(state: State, quote: Quote<Fill>, other: State): State;
  /**
   * The market's own state once the trade of `quote` has been made on it, good for the amounts of further quotes at the same clock
   * and for nothing else. Undefined, or absent: the state after the trade is unknown.
   */
  traded?(state: State, quote: Quote<Fill>, clock: ChainClock): State | undefined;
  /**
   * What the program does with the swap that was signed for `signed`, on a later state of its market: the trade of `ask`, within
   * what the signed accounts and amounts allow besides the bound of `ask`. Absent: they allow whatever `quote` answers.
   * @throws TradewireError as `quote`; also SLIPPAGE_EXCEEDED if the program refuses what it would give
   */
  replay?(state: State, signed: Quote<Fill>, ask: Ask, bound: bigint): Replay<State, Fill>;
  /**
   * What the signed swap of `quote` asks of the program, if that is not the exact side of the quote: another amount, or another mode
   * with a bound of its own instead of the threshold. Absent: the exact side, bounded by the threshold.
   */
  signedAsk?(quote: Quote<Fill>): SignedAsk;
  /**
   * The least that arrives of the swap of `quote` made with `threshold`, if that may be less than the program checks: another market
   * may take no more of it. Absent: what is checked arrives.
   */
  leastArriving?(quote: Quote<Fill>, threshold: bigint): bigint;
  /**
   * The same quote for a swap by an older instruction of the program, which makes the same trade and names fewer accounts: for a
   * transaction that holds no more. Absent, or undefined: there is none, or the quote is for it already.
   */
  older?(state: State, quote: Quote<Fill>): Quote<Fill> | undefined;
  /**
   * The same quote for a swap by the same instruction with fewer accounts, in a transaction that holds no more: without the arrays of
   * ticks or bins that the trade needs only if the price first moves by more than `LEAN_MARGIN_BPS`. Absent, or undefined: there are
   * none to leave out.
   */
  lean?(state: State, quote: Quote<Fill>): Quote<Fill> | undefined;
  /** The instructions that make the trade of `quote`, from its fill: nothing is priced again. */
  swap(state: State, quote: Quote<Fill>, terms: SwapTerms): SwapLeg;
  /**
   * Numbers of the arrays of ticks or bins that the swap of `quote` names, in the order of its accounts: with them a verifier
   * derives their addresses without a search. Absent: the venue has none.
   */
  arrayNumbers?(state: State, quote: Quote<Fill>): readonly number[];
  /** Meaning of the errors of this venue's programs: by Anchor error name, else by number. */
  readonly errors: ProgramErrors;
}

/** Public codes that a program's error can have. */
export type ProgramErrorCode =
  | "SLIPPAGE_EXCEEDED"
  | "INSUFFICIENT_LIQUIDITY"
  | "INSUFFICIENT_SOL"
  | "INSUFFICIENT_TOKEN_BALANCE"
  | "NO_ROUTE"
  | "VENUE_DEGRADED";

/** An error of a venue's program, and its public code. Null: the program has no number, or no known name, for it. */
export type ListedError = readonly [number: number | null, name: string | null, code: ProgramErrorCode];

/** The errors of a venue's programs that a trade can meet. */
export interface ProgramErrors {
  readonly listed: readonly ListedError[];
  readonly byName: ReadonlyMap<string, ProgramErrorCode>;
  readonly byNumber: ReadonlyMap<number, ProgramErrorCode>;
  /** Of a swap in which the program panics. Absent: unknown. */
  readonly panic?: ProgramErrorCode;
}

/** The same quote for a swap with as few accounts as the venue knows; undefined if it has no leaner one. */
export function leanest<State, Fill>(
  { older, lean }: Pick<Venue<never, State, Fill>, "older" | "lean">,
  state: State,
  quote: Quote<Fill>,
): Quote<Fill> | undefined {
  const byOlder = older?.(state, quote);
  return lean?.(state, byOlder ?? quote) ?? byOlder;
}
