import type { Principal, SubmissionPlace } from "../accounts/port.ts";
import type { Priority } from "../chain/port.ts";
import type { ErrorCode } from "../errors/error-codes.ts";
import type { SearchCaller } from "../market/port.ts";
import type { Address } from "../primitives/address.ts";
import type { SwapMode } from "../venues/venue.ts";
import type { PriceMovement } from "./quote/movement/price-series.ts";
import type { Diagnosis } from "./submit/diagnosis/diagnosis.ts";
import type { VenueCounts } from "./venue-activity.ts";

/**
 * What a caller asks for, parsed but not yet resolved against the chain. An error about an argument has the argument's name
 * here as its `field`.
 */
export interface TradeRequest {
  readonly principal: Principal;
  readonly inMint: Address;
  readonly outMint: Address;
  readonly mode: SwapMode;
  /** Whole units of the exact side, as the JSON number of the request. */
  readonly amount: number;
  /** In place of `amount`: base units, as a decimal string. */
  readonly amountRaw?: string | undefined;
  /** In place of `amount`: percent of the wallet's balance of the input mint, 0 < p ≤ 100. */
  readonly sellPercent?: number | undefined;
  /** Decimal fraction, 0 ≤ slippage < 1. */
  readonly slippage: number;
  readonly priority: Priority;
  /** Refuse a higher price impact. Fraction. */
  readonly maxPriceImpact: number | undefined;
  /** Refuse a higher priority cost. SOL. */
  readonly maxPriorityCost: number | undefined;
  /** Use only markets whose quotes were checked on the deployed programs. */
  readonly requireChecked?: boolean | undefined;
  /** The newest transaction version that the caller can sign: 0 or 1. Default 0. */
  readonly maxTransactionVersion?: number | undefined;
  /** True if the caller knows the guard of the total: see `TotalGuard`. */
  readonly totalGuard?: boolean | undefined;
  /** Parallel paths of the route at most, 1 to 4. Default 4. */
  readonly maxPaths?: number | undefined;
  /** Markets in a row at most, 1 to 3. Default 3. */
  readonly maxLegs?: number | undefined;
  /** True: trade the two mints against each other only. */
  readonly directOnly?: boolean | undefined;
  /** Ids of the only venues allowed; empty or absent for every venue. */
  readonly venues?: readonly string[] | undefined;
  /** Ids of venues to leave out. */
  readonly excludeVenues?: readonly string[] | undefined;
  /** True: the estimates also state the worst that the signed bytes allow, and what an attacker who trades around them could take. */
  readonly worstCase?: boolean | undefined;
  /** Whose budget cold searches are taken from; absent: nobody's. */
  readonly caller?: SearchCaller | undefined;
  /** Receives the end of each stage. */
  readonly stages?: { mark(stage: BuildStage): void } | undefined;
}

/** The stages of a build, in their order. */
type BuildStage = "snapshot" | "route" | "seal";

/** The stages of a submit, in their order. */
export type SubmitStage = "open" | "verify" | "claim" | "broadcast" | "confirm" | "receipt";

/** One market of a route. */
export interface RouteLeg {
  readonly venue: string;
  readonly market: Address;
  readonly inMint: Address;
  readonly outMint: Address;
  readonly inAmount: bigint;
  readonly outAmount: bigint;
  /** Number of the parallel path that it belongs to; absent: 0. Legs of one path follow one another. */
  readonly path?: number;
  /** The part of the exact side that its path carries, in billionths; absent: all of it. */
  readonly sharePpb?: number;
  /** Of a build: see `Venue.arrayNumbers`. */
  readonly arrayNumbers?: readonly number[];
}

/** The part of a mint between two markets that stays with the wallet, in base units. */
export interface Remainder {
  readonly mint: Address;
  readonly amount: bigint;
}

/** How the markets of a route are backed by running the deployed programs on them. */
export interface RouteProof {
  /** Slot of the newest deployment among the programs; undefined before the first check. */
  readonly programSlot: bigint | undefined;
  /** Slot of the oldest of the markets' last checks; undefined if one was never checked. */
  readonly shadowSlot: bigint | undefined;
  /** True if the last check of each, on the programs deployed now, agreed to the base unit. */
  readonly checked: boolean;
}

/** What a transaction costs, in lamports. */
export interface Costs {
  readonly baseFee: bigint;
  readonly priorityFee: bigint;
  readonly tip: bigint;
  readonly rentPaid: bigint;
  readonly rentReturned: bigint;
}

/** What a trade moves, in base units. */
export interface ExactAmounts {
  readonly inAmount: bigint;
  readonly outAmount: bigint;
  /** The part of each mint between two markets that stays with the wallet, in the order of the trade. */
  readonly remainders?: readonly Remainder[] | undefined;
}

/** The mints of a trade and their decimals. */
export interface TradeSides {
  readonly inMint: Address;
  readonly outMint: Address;
  readonly inDecimals: number;
  readonly outDecimals: number;
}

/** What trading before and after one market of a route could take. Amounts in base units. */
export interface MarketWorstCase {
  readonly venue: string;
  readonly market: Address;
  readonly inMint: Address;
  readonly outMint: Address;
  readonly mode: SwapMode;
  /** The bound in the signed bytes, which the program enforces. exactIn: the least output. exactOut: the most input. */
  readonly bound: bigint;
  /** Whether such trades gain anything or cannot be made; `unknown` if the state after a trade is not computed. */
  readonly attack: "profitable" | "unprofitable" | "impossible" | "unknown";
  /** What the attacker spends before the trade, and gains over that by selling again after it. In the input mint, after venue fees. */
  readonly frontRun?: bigint;
  readonly taken?: bigint;
  /** Why the attack is impossible or unknown. */
  readonly reason?: string;
}

/** The worst that the signed bytes of a trade allow. */
export interface WorstCase {
  /** exactIn: the least output. exactOut: the most input. */
  readonly amount: bigint;
  /** How much worse than the estimate that is. */
  readonly loss: bigint;
  /** In the order of execution. */
  readonly markets: readonly MarketWorstCase[];
}

/** A built transaction. */
export interface BuiltTrade extends TradeSides {
  readonly submissionToken: string;
  /** The transaction in wire format, its signature zero. */
  readonly unsignedTransaction: Uint8Array;
  readonly expiresAtMs: number;
  /** Venue ids of the legs, joined with "+". */
  readonly platform: string;
  readonly estimates: ExactAmounts & {
    readonly priceImpact: number;
    /** exactIn: least output. exactOut: most input. */
    readonly threshold: bigint;
    /** If it was asked for. */
    readonly worstCase?: WorstCase;
    /** How much better the best route is that fits into no transaction. Fraction; absent if no such route is better. */
    readonly fitLoss?: number | undefined;
  };
  readonly costs: Costs;
  readonly route: readonly RouteLeg[];
  /** Undefined if nothing is checked: shadow execution is off. */
  readonly proof?: RouteProof | undefined;
  /** See `QuotedTrade.withheld`. */
  readonly withheld?: readonly string[] | undefined;
  readonly lastValidBlockHeight: bigint;
}

/** A priced trade without a transaction, and the alternatives. */
export interface QuotedTrade extends TradeSides {
  readonly platform: string;
  readonly estimates: BuiltTrade["estimates"];
  readonly route: readonly RouteLeg[];
  /** Undefined if nothing is checked: shadow execution is off. */
  readonly proof?: RouteProof | undefined;
  /** True if the transaction fits only for wallets whose token accounts are open already. */
  readonly needsOpenAccounts: boolean;
  /** What the route is worth to the wallet before fees: see `Route.value`. */
  readonly value?: bigint;
  /** What splitting gains over the best single path. Fraction of its value. */
  readonly splitGain?: number;
  /** How the pair's price has moved lately; absent if it is not observed. */
  readonly priceMovement?: PriceMovement | undefined;
  readonly alternatives: readonly {
    readonly platform: string;
    readonly inAmount: bigint;
    readonly outAmount: bigint;
    readonly priceImpact: number;
    readonly route: readonly RouteLeg[];
    readonly needsOpenAccounts: boolean;
    readonly value?: bigint;
  }[];
  readonly faults: readonly { readonly venue: string; readonly market: string | undefined; readonly reason: string }[];
  /** Venues with a market that was left out because it is withheld; undefined if there is none. */
  readonly withheld?: readonly string[] | undefined;
}

export type TradeStatus = "pending" | "processed" | "confirmed" | "finalized";

/** A submitted trade. One that failed is thrown as an error, with the same facts. */
export interface SubmittedTrade extends TradeSides {
  readonly signature: string;
  readonly status: TradeStatus;
  /** Absent while pending. */
  readonly slot: bigint | undefined;
  readonly platform: string;
  /** Measured on the chain's record; absent while there is none. */
  readonly result: ExactAmounts | undefined;
  readonly costs: Costs;
  readonly route: readonly RouteLeg[];
  /** Nodes that agree on the outcome; absent while there is none. 1: it rests on one node's word. */
  readonly witnesses: number | undefined;
  /** Why it is still undecided although a node has reported it as landed or expired. */
  readonly pendingReason: string | undefined;
  /** Why it landed late; absent if it did not. */
  readonly diagnosis: Diagnosis | undefined;
}

/** Something that happened to a submitted transaction. */
export interface TradeEvent {
  readonly kind: "sent" | "refused" | Exclude<TradeStatus, "pending">;
  readonly atMs: number;
  /** The sender, for `sent` and `refused`. */
  readonly sender?: string;
  readonly slot?: bigint;
  /** Why the sender refused it. */
  readonly reason?: string;
}

/** A submitted trade with what happened since the previous answer of the same stream. */
export interface WatchedTrade extends SubmittedTrade {
  readonly events: readonly TradeEvent[];
}

/** A submitted trade in a list, whatever its outcome. */
export interface ListedTrade {
  readonly signature: string;
  readonly status: TradeStatus | "failed" | "expired";
  /** Where it landed; undefined if it has not. */
  readonly slot: bigint | undefined;
  readonly submittedAtMs: number;
  /** When its outcome was decided; undefined until then. */
  readonly endedAtMs: number | undefined;
  /** What was built and measured; undefined if the key that sealed it has left the ring. */
  readonly trade?: SubmittedTrade | undefined;
  /** What the build promised. */
  readonly quoted?: ExactAmounts | undefined;
  /** Why it expired or landed late; absent if it did neither. */
  readonly diagnosis?: Diagnosis | undefined;
  readonly failure?: { readonly code: ErrorCode; readonly message: string; readonly safeToRebuild: boolean };
}

/** Which trades of an account to list. */
export interface TradeQuery {
  readonly most: number;
  readonly after: SubmissionPlace | undefined;
  /** All if empty. */
  readonly statuses: ReadonlySet<ListedTrade["status"]>;
  /** Submitted at this time or later. Epoch milliseconds. */
  readonly sinceMs: number | undefined;
  /** Submitted before this time. Epoch milliseconds. */
  readonly untilMs: number | undefined;
}

/** Trades of an account, newest first. */
export interface TradePage {
  readonly trades: readonly ListedTrade[];
  /** Where the next page begins; undefined on the last one. */
  readonly next: SubmissionPlace | undefined;
}

/** How a day's submissions at a priority level ended, as this process saw it. */
export interface LandingSummary {
  /** Submissions whose end is known. */
  readonly sample: number;
  /** Share of them that got into a block, failed trades included; undefined without a sample. Fraction. */
  readonly landedShare: number | undefined;
  /** Slots from submit to landing, of those that landed: the median, and the 90th percentile. */
  readonly slots: number | undefined;
  readonly slotsP90: number | undefined;
}

/** How a day's submissions through a sender ended. */
export interface SenderSummary {
  /** Submissions that it accepted and whose end is known. */
  readonly sample: number;
  /** Share of these that got into a block, by whichever sender. Fraction. */
  readonly landedShare: number;
  /** Submissions that it refused. */
  readonly refused: number;
}

/** What a wallet holds, in base units. */
export interface WalletBalances {
  readonly wallet: Address;
  readonly lamports: bigint;
  readonly tokens: readonly { readonly mint: Address; readonly decimals: number; readonly amount: bigint }[];
  /** When it was read. */
  readonly slot: bigint;
}

/** The product, as the API calls it. */
export interface Trades {
  /** Warm builds answer synchronously. @throws TradewireError */
  build(request: TradeRequest): BuiltTrade | Promise<BuiltTrade>;
  /** @throws TradewireError */
  quote(request: Omit<TradeRequest, "principal" | "priority">): QuotedTrade | Promise<QuotedTrade>;
  /** @throws TradewireError */
  submit(request: {
    readonly principal: Principal;
    readonly submissionToken: string;
    readonly signedTransaction: Uint8Array;
    /** Receives the end of each stage, `agoMs` before now. */
    readonly stages?: { mark(stage: SubmitStage, agoMs?: number): void } | undefined;
  }): Promise<SubmittedTrade>;
  /** A trade that this account submitted. @throws TradewireError TRADE_NOT_FOUND, or the error the trade failed with */
  find(principal: Principal, signature: string): Promise<SubmittedTrade>;
  /** The trades that this account submitted, whatever their outcome. @throws TradewireError UPSTREAM_ERROR */
  list(principal: Principal, query: TradeQuery): Promise<TradePage>;
  /**
   * The trade now and after every change, until it is finalized or `signal` aborts.
   * @throws TradewireError TRADE_NOT_FOUND, or the error the trade failed with
   */
  watch(principal: Principal, signature: string, signal: AbortSignal): AsyncIterable<WatchedTrade>;
  /** What the wallet holds, read from a node. An address that is no mint is left out. @throws TradewireError UPSTREAM_ERROR */
  balances(principal: Principal, mints: readonly Address[]): Promise<WalletBalances>;
  /** The current cost of each priority level. */
  priorities(): readonly {
    readonly level: Priority;
    readonly microLamportsPerCu: bigint;
    /** Priority fee and tips of a typical trade. */
    readonly typicalCostLamports: bigint;
    /** Slots until the price is enough for a block, judged by recent ones. */
    readonly expectedSlots: number;
    readonly landing: LandingSummary;
  }[];
  /** Counts of each venue's quotes, builds and trades since the start of this process. */
  readonly venueCounts: () => ReadonlyMap<string, VenueCounts>;
  /** How a day's submissions ended; a sender without any has no summary. */
  readonly landings: {
    ofLevel(level: Priority): LandingSummary;
    ofSender(name: string): SenderSummary | undefined;
  };
}
