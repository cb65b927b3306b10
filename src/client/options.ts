import type { Transport } from "@connectrpc/connect";
import type { BuyResponse, SellResponse, SwapResponse } from "../../gen/tradewire/v1/trade_pb.ts";
import type { LookupTables, lookupTablesOf } from "./verify/read-transaction.ts";
import type { TradeLimits } from "./verify/trade-expectation.ts";
import type { WalletLike } from "./wallet.ts";

/** How to reach the service, and the wallet that trades. */
export interface ConnectOptions {
  /** URL of the service, such as https://trade.example. */
  readonly baseUrl: string;
  /** A base58 private key of 32 or 64 bytes, or anything that can sign. */
  readonly wallet: WalletLike;
  /** Without one, call `register` first. */
  readonly apiKey?: string | undefined;
  /** Replaces the default, Connect over fetch. */
  readonly transport?: Transport | undefined;
  /** Longest wait for one response. Milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** "off" signs whatever the service builds. Use it only with a service you run yourself. */
  readonly verify?: "on" | "off" | undefined;
  /**
   * Contents of address lookup tables, or a function that reads them from your own node. Required if the service uses
   * lookup tables. Never take them from the service itself: it could lie about them.
   */
  readonly lookupTables?: LookupTables | LookupTableReader | undefined;
  /** Idle time before a keep-alive ping; 0 disables pings. Milliseconds. */
  readonly keepAliveMs?: number | undefined;
}

/** Reads the contents of lookup tables from a node that you trust. */
export type LookupTableReader = (tables: ReturnType<typeof lookupTablesOf>) => Promise<LookupTables>;

/** Cancels a call or limits its time. */
export interface CallControl {
  readonly signal?: AbortSignal | undefined;
  /** Longest wait for one response. Milliseconds. */
  readonly timeoutMs?: number | undefined;
}

/** Whether to build again after a transaction has provably expired. */
export interface RebuildPolicy {
  /** Maximum number of rebuilds. */
  readonly times: number;
  /** How much worse the price may be than in the first build: 0.01 is 1 %. */
  readonly maxPriceMove: number;
}

/** Limits, cancellation and progress of a whole trade. */
export interface TradeOptions extends TradeLimits, CallControl {
  readonly rebuild?: RebuildPolicy | undefined;
  /** Called after each step. */
  readonly onProgress?: ((step: TradeStep) => void) | undefined;
}

/** A finished step of a trade. */
export type TradeStep =
  | { readonly step: "built"; readonly built: BuiltResponse }
  | { readonly step: "signed"; readonly signature: string }
  | { readonly step: "waiting"; readonly signature: string }
  | { readonly step: "expired"; readonly signature: string };

/** What a build call returns. */
export type BuiltResponse = BuyResponse | SellResponse | SwapResponse;
