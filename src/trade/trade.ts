import type { Principal } from "../accounts/port.ts";
import type { Priority } from "../chain/port.ts";
import type { Address } from "../primitives/address.ts";
import type { SwapMode } from "../venues/venue.ts";

/**
 * What a caller asks for, parsed but not yet resolved against the chain. An error about an argument has the argument's name
 * here as its `field`.
 */
export interface TradeRequest {
  readonly principal: Principal;
  readonly inMint: Address;
  readonly outMint: Address;
  readonly mode: SwapMode;
  /** Whole units of the exact side, as the JSON number came in. */
  readonly amount: number;
  /** In place of `amount`: percent of what the wallet holds of the mint that goes in, 0 < p ≤ 100. */
  readonly sellPercent?: number | undefined;
  /** Decimal fraction, 0 ≤ slippage < 1. */
  readonly slippage: number;
  readonly priority: Priority;
  /** Refuse above this fraction. */
  readonly maxPriceImpact: number | undefined;
  /** Refuse above this many SOL. */
  readonly maxPriorityCost: number | undefined;
  /** Told of the end of each stage, by whoever times them. */
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
}

/** Lamports, by what they are paid for. */
export interface Costs {
  readonly baseFee: bigint;
  readonly priorityFee: bigint;
  readonly tip: bigint;
  readonly rentPaid: bigint;
  readonly rentReturned: bigint;
}

/** Both sides of a trade with their mints: what every answer about amounts is written from. */
export interface TradeAmounts {
  readonly inAmount: bigint;
  readonly outAmount: bigint;
  /** Over two markets: base units of the mint passed through that stay with the wallet. */
  readonly remainder?: bigint | undefined;
}

export interface TradeSides {
  readonly inMint: Address;
  readonly outMint: Address;
  readonly inDecimals: number;
  readonly outDecimals: number;
}

/** A built transaction. */
export interface BuiltTrade extends TradeSides {
  readonly submissionToken: string;
  /** The wire transaction, its signature slots zero. */
  readonly unsignedTransaction: Uint8Array;
  readonly expiresAtMs: number;
  /** Venue ids of the legs, joined with "+". */
  readonly platform: string;
  readonly estimates: TradeAmounts & {
    readonly priceImpact: number;
    /** Least out for exactIn, most in for exactOut. */
    readonly threshold: bigint;
  };
  readonly costs: Costs;
  readonly route: readonly RouteLeg[];
  readonly lastValidBlockHeight: bigint;
}

/** A quote without a transaction, and what else was considered. */
export interface QuotedTrade extends TradeSides {
  readonly platform: string;
  readonly estimates: BuiltTrade["estimates"];
  readonly route: readonly RouteLeg[];
  /** True: only for a wallet whose token accounts are open already does the transaction fit. */
  readonly needsOpenAccounts: boolean;
  readonly alternatives: readonly {
    readonly platform: string;
    readonly inAmount: bigint;
    readonly outAmount: bigint;
    readonly priceImpact: number;
    readonly route: readonly RouteLeg[];
    readonly needsOpenAccounts: boolean;
  }[];
  readonly faults: readonly { readonly venue: string; readonly market: string | undefined; readonly reason: string }[];
}

export type TradeStatus = "pending" | "processed" | "confirmed" | "finalized";

/** What became of a submitted transaction. Failures are thrown, with the same facts. */
export interface SubmittedTrade extends TradeSides {
  readonly signature: string;
  readonly status: TradeStatus;
  /** Absent while pending. */
  readonly slot: bigint | undefined;
  readonly platform: string;
  /** Measured from the chain's record; absent when that cannot be read (yet). */
  readonly result: TradeAmounts | undefined;
  readonly costs: Costs;
  readonly route: readonly RouteLeg[];
}

/** One step on the way of a submitted transaction. */
export interface TradeEvent {
  readonly kind: "sent" | "refused" | Exclude<TradeStatus, "pending">;
  readonly atMs: number;
  /** Where it was sent, for `sent` and `refused`. */
  readonly sender?: string;
  readonly slot?: bigint;
  /** Why a sender did not take it. */
  readonly reason?: string;
}

/** A submitted transaction while it is watched, with what has happened since it was last told of. */
export interface WatchedTrade extends SubmittedTrade {
  readonly events: readonly TradeEvent[];
}

/** The product, as the edge calls it. */
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
    /** Told of the end of each stage, `agoMs` before now, by whoever times them. */
    readonly stages?: { mark(stage: SubmitStage, agoMs?: number): void } | undefined;
  }): Promise<SubmittedTrade>;
  /** A trade submitted by this account. @throws TradewireError TRADE_NOT_FOUND, or the failure the trade ended in */
  find(principal: Principal, signature: string): Promise<SubmittedTrade>;
  /**
   * The same, at once and again on every change with what happened, ending after "finalized" or when `signal` aborts.
   * @throws TradewireError TRADE_NOT_FOUND, or the failure the trade ended in
   */
  watch(principal: Principal, signature: string, signal: AbortSignal): AsyncIterable<WatchedTrade>;
  /** What priority costs now, per level. */
  priorities(): readonly {
    readonly level: Priority;
    readonly microLamportsPerCu: bigint;
    /** Priority fee and tips of a typical trade. */
    readonly typicalCostLamports: bigint;
    /** Slots until one comes in which the price is enough, as the recent ones went. */
    readonly expectedSlots: number;
  }[];
}
