import type { Address } from "../../primitives/address.ts";
import type { LookupTables, ReadTransaction } from "../verify/read-transaction.ts";
import type { TradeExpectation } from "../verify/trade-expectation.ts";

/** A verified transaction, as a node checks it. */
export interface NodeTrade {
  /** The unsigned wire transaction: exactly what will be signed. */
  readonly wire: Uint8Array;
  readonly transaction: ReadTransaction;
  readonly expected: TradeExpectation;
  /** The slippage of the order, as a fraction. */
  readonly slippage: number;
  /** The share of the balance that was ordered, in percent; undefined for an exact amount. */
  readonly sellPercent: number | undefined;
  /** The rent that the service announced. Lamports; undefined if it did not say. */
  readonly rentPaid: bigint | undefined;
}

/** What the caller's node says of a transaction before it is signed. */
export interface NodeFindings {
  /** The slot whose state the transaction was simulated on. */
  readonly slot: number;
  /** What the simulated transaction takes from the wallet and gives to it, costs apart. Base units. */
  readonly inputAmountRaw: string;
  readonly outputAmountRaw: string;
  /**
   * How far the trade moves the price, as a fraction: its own price against that of the same instructions at a small part of
   * the amount. Undefined if the amount is too small to divide.
   */
  readonly priceImpact: number | undefined;
}

/** Whether a signed transaction can still land. */
export type NodeVerdict = "pending" | "landed" | "expired";

/** The caller's own RPC node. `rpcNode` of `tradewire/node` makes one. */
export interface TradeNode {
  /** Decimals of a mint. @throws TradeError NODE_UNAVAILABLE, TOKEN_NOT_FOUND */
  decimals(mint: Address, signal?: AbortSignal): Promise<number>;
  /** Contents of lookup tables. @throws TradeError NODE_UNAVAILABLE, UNREADABLE_TRANSACTION */
  lookupTables(tables: readonly Address[], signal?: AbortSignal): Promise<LookupTables>;
  /**
   * Simulates the exact bytes and holds every change of the wallet's accounts against the order.
   * @throws UnexpectedTransactionError if a change is not the trade's; TradeError SIMULATION_FAILED, NODE_UNAVAILABLE
   */
  check(trade: NodeTrade, signal?: AbortSignal): Promise<NodeFindings>;
  /**
   * Whether a transaction that was checked can still land: by the finalized block height and the signature's status.
   * @param sinceSlot the slot of its check
   * @throws TradeError NODE_UNAVAILABLE
   */
  verdict(wire: Uint8Array, signature: string, sinceSlot: number, signal?: AbortSignal): Promise<NodeVerdict>;
}
