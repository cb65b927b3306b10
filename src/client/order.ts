import { Priority, SwapMode } from "../../gen/tradewire/v1/types_pb.ts";
import type { TradeOrder } from "./verify/trade-expectation.ts";

export const PRIORITIES = {
  economy: Priority.ECONOMY,
  fast: Priority.FAST,
  faster: Priority.FASTER,
  fastest: Priority.FASTEST,
} as const;

export const SWAP_MODES = { exactIn: SwapMode.EXACT_IN, exactOut: SwapMode.EXACT_OUT } as const;

export type PriorityName = keyof typeof PRIORITIES;
export type SwapModeName = keyof typeof SWAP_MODES;

interface OrderTerms {
  /** Decimal fraction, 0 ≤ slippage < 1: 0.05 is 5 %. */
  readonly slippage: number;
  readonly priority: PriorityName;
}

/** Spend exactly `solAmount` SOL on a token. */
export interface BuyOrder extends OrderTerms {
  readonly mint: string;
  readonly solAmount: number;
}

/** Sell exactly `tokenAmount` of a token for SOL, or `sellPercent` of the balance. Give one of the two. */
export interface SellOrder extends OrderTerms {
  readonly mint: string;
  readonly tokenAmount?: number | undefined;
  /** 0 < p ≤ 100. At 100 the emptied token account is closed and its rent returned. */
  readonly sellPercent?: number | undefined;
}

/** Swap one mint for another, exact on either side. SOL may be written `SOL`. */
export interface SwapOrder extends OrderTerms {
  readonly inputMint: string;
  readonly outputMint: string;
  readonly amount: number;
  readonly swapMode: SwapModeName;
}

/** The buy as an order for the verifier. */
export function buyAsTrade({ mint, solAmount, slippage }: BuyOrder): TradeOrder {
  return { inputMint: "SOL", outputMint: mint, swapMode: "exactIn", amount: solAmount, slippage };
}

/** The sale as an order for the verifier. @throws TypeError unless it has exactly one of the two amounts */
export function saleAsTrade({ mint, tokenAmount, sellPercent, slippage }: SellOrder): TradeOrder {
  if ((tokenAmount === undefined) === (sellPercent === undefined)) {
    throw new TypeError("A sale needs either tokenAmount or sellPercent.");
  }
  return { inputMint: mint, outputMint: "SOL", swapMode: "exactIn", amount: tokenAmount, slippage, sellPercent };
}

/** The swap as an order for the verifier. */
export function swapAsTrade({ inputMint, outputMint, amount, swapMode, slippage }: SwapOrder): TradeOrder {
  return { inputMint, outputMint, amount, swapMode, slippage };
}

const TERM_KEYS = { slippage: true, priority: true } as const;
export const BUY_KEYS = { ...TERM_KEYS, mint: true, solAmount: true } as const satisfies Record<keyof BuyOrder, true>;
export const SELL_KEYS = {
  ...TERM_KEYS,
  mint: true,
  tokenAmount: true,
  sellPercent: true,
} as const satisfies Record<keyof SellOrder, true>;
export const SWAP_KEYS = {
  ...TERM_KEYS,
  inputMint: true,
  outputMint: true,
  amount: true,
  swapMode: true,
} as const satisfies Record<keyof SwapOrder, true>;
