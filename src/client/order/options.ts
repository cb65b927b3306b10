import type { Transport } from "@connectrpc/connect";
import type { BuiltResponse } from "../answers/answers.ts";
import type { PriceReference, ReferenceOptions } from "../proof/reference.ts";
import type { TradeReview } from "../proof/review.ts";
import type { TradeNode } from "../proof/trade-node.ts";
import type { LookupTables, lookupTablesOf } from "../verify/read-transaction.ts";
import type { WalletLike } from "../wallet.ts";
import { LIMIT_KEYS, type TradeLimits } from "./limits.ts";

/** Whether a trade that only the service's word supports is refused. */
export interface ProofOptions {
  /** Refuses, before signing, a trade with terms that rest on the service's word alone, and names what would prove them. Default: false. */
  readonly requireProof?: boolean | undefined;
}

/** How to reach the service, and the wallet that trades. */
export interface ConnectOptions extends ProofOptions {
  /** URL of the service, such as https://trade.example. */
  readonly baseUrl: string;
  /** A base58 private key of 32 or 64 bytes, or anything that can sign. */
  readonly wallet: WalletLike;
  /** Without one, call `register` first. */
  readonly apiKey?: string | undefined;
  /**
   * Host that registration may sign in to, with its port if it has one. Default: that of `baseUrl`, with every name of this
   * machine's loopback counted as one.
   */
  readonly domain?: string | undefined;
  /** Decimals by mint, for amounts in whole tokens. Never the service's: take them from the chain, or from what you trust. */
  readonly decimals?: Readonly<Record<string, number>> | undefined;
  /** Replaces the default, Connect over fetch. */
  readonly transport?: Transport | undefined;
  /** Longest wait for one response; 0: no bound. Milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** "off" signs whatever the service builds. Use it only with a service you run yourself. */
  readonly verify?: "on" | "off" | undefined;
  /**
   * Contents of address lookup tables, or a function that reads them from your own node. Required if the service uses
   * lookup tables. Never take them from the service itself: it could lie about them.
   */
  readonly lookupTables?: LookupTables | LookupTableReader | undefined;
  /**
   * Your own RPC node, from `rpcNode(url)` of `tradewire/node`. It reads decimals, balances and lookup tables, simulates each
   * transaction before it is signed, measures price impact, and decides whether an expired transaction may be replaced.
   */
  readonly node?: TradeNode | undefined;
  /** A second opinion on price: a function, the URL of another Tradewire, or either with its options. */
  readonly reference?: PriceReference | string | ReferenceOptions | undefined;
  /** Idle time before a keep-alive ping; 0 disables pings. Milliseconds. */
  readonly keepAliveMs?: number | undefined;
}

/** Reads the contents of lookup tables from a node that you trust. The signal is that of the call that needs them. */
export type LookupTableReader = (
  tables: ReturnType<typeof lookupTablesOf>,
  signal: AbortSignal,
) => Promise<LookupTables>;

/** Cancels a call or limits its time. */
export interface CallControl {
  readonly signal?: AbortSignal | undefined;
  /** Longest wait for one response; 0: no bound. Milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** How long to repeat a submit that is pending or lost its connection. Milliseconds; default two minutes. */
  readonly patienceMs?: number | undefined;
}

/** Whether to build again after a transaction has provably expired. */
export interface RebuildPolicy {
  /** Maximum number of rebuilds. */
  readonly times: number;
  /** How much worse the price may be than in the first build, as a fraction below 1: 0.01 is 1 %. */
  readonly maxPriceMove: number;
  /**
   * Proves that the transaction can no longer land, beside the client's `node`. Without either the service's word counts, and
   * `unproven` lists `expiry`: one that lies can land every rebuild, up to `times` more trades.
   */
  readonly proveExpiry?: ((signature: string, built: BuiltResponse) => Promise<boolean>) | undefined;
}

/** Limits, cancellation and progress of a whole trade. */
export interface TradeOptions extends TradeLimits, CallControl, ProofOptions {
  /** Called with the verified trade before it is signed; anything but true declines it. */
  readonly confirm?: ((review: TradeReview) => boolean | Promise<boolean>) | undefined;
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

export const CONNECT_KEYS = {
  baseUrl: true,
  wallet: true,
  apiKey: true,
  domain: true,
  decimals: true,
  transport: true,
  timeoutMs: true,
  verify: true,
  lookupTables: true,
  node: true,
  reference: true,
  requireProof: true,
  keepAliveMs: true,
} as const satisfies Record<keyof ConnectOptions, true>;

export const CONTROL_KEYS = { signal: true, timeoutMs: true, patienceMs: true } as const satisfies Record<
  keyof CallControl,
  true
>;

export const TRADE_KEYS = {
  ...LIMIT_KEYS,
  ...CONTROL_KEYS,
  requireProof: true,
  confirm: true,
  rebuild: true,
  onProgress: true,
} as const satisfies Record<keyof TradeOptions, true>;

export const REBUILD_KEYS = { times: true, maxPriceMove: true, proveExpiry: true } as const satisfies Record<
  keyof RebuildPolicy,
  true
>;
