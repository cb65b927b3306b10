import { Priority, SwapMode } from "../../../gen/tradewire/v1/types_pb.ts";
import type { TradeOrder } from "../verify/trade-expectation.ts";
import { checkAmounts } from "./amounts.ts";

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
  /**
   * Decimal fraction, 0 ≤ slippage < 1: 0.05 is 5 %. "auto": the least that covers how the price has moved lately within the life of
   * a blockhash, by the service's word, and `maxSlippage` at most.
   */
  readonly slippage: number | "auto";
  readonly priority: PriorityName;
}

/** Spend exactly this much SOL on a token. Give one of the two amounts. */
export interface BuyOrder extends OrderTerms {
  readonly mint: string;
  readonly solAmount?: number | undefined;
  /** Lamports, as a decimal string: exact for every amount. */
  readonly solAmountRaw?: string | undefined;
}

/** Sell exactly this much of a token for SOL, or a share of the balance. Give one of the three. */
export interface SellOrder extends OrderTerms {
  readonly mint: string;
  readonly tokenAmount?: number | undefined;
  /** Base units, as a decimal string: exact for every amount, and needs no decimals. */
  readonly tokenAmountRaw?: string | undefined;
  /** 0 < p ≤ 100. At 100 the emptied token account is closed and its rent returned. */
  readonly sellPercent?: number | undefined;
}

/** Swap one mint for another, exact on either side. SOL may be written `SOL`. Give one of the two amounts. */
export interface SwapOrder extends OrderTerms {
  readonly inputMint: string;
  readonly outputMint: string;
  readonly amount?: number | undefined;
  /** Base units, as a decimal string: exact for every amount, and needs no decimals. */
  readonly amountRaw?: string | undefined;
  readonly swapMode: SwapModeName;
}

/** An order whose slippage is a number. */
export type SettledOrder<O extends { readonly slippage: number | "auto" }> = Omit<O, "slippage"> & {
  readonly slippage: number;
};

/** The buy as an order for the verifier. @throws TypeError unless it has exactly one of the two amounts */
export function buyAsTrade({ mint, solAmount, solAmountRaw, slippage }: SettledOrder<BuyOrder>): TradeOrder {
  checkAmounts("A buy", { solAmount, solAmountRaw });
  const amounts = { amount: solAmount, amountRaw: solAmountRaw };
  return { inputMint: "SOL", outputMint: mint, swapMode: "exactIn", ...amounts, slippage };
}

/** The sale as an order for the verifier. @throws TypeError unless it has exactly one of the three amounts */
export function saleAsTrade({
  mint,
  tokenAmount,
  tokenAmountRaw,
  sellPercent,
  slippage,
}: SettledOrder<SellOrder>): TradeOrder {
  checkAmounts("A sale", { tokenAmount, tokenAmountRaw, sellPercent });
  const amounts = { amount: tokenAmount, amountRaw: tokenAmountRaw, sellPercent };
  return { inputMint: mint, outputMint: "SOL", swapMode: "exactIn", ...amounts, slippage };
}

/** The swap as an order for the verifier. @throws TypeError unless it has exactly one of the two amounts */
export function swapAsTrade(order: Omit<SettledOrder<SwapOrder>, "priority">): TradeOrder {
  const { inputMint, outputMint, amount, amountRaw, swapMode, slippage } = order;
  checkAmounts("A swap", { amount, amountRaw });
  return { inputMint, outputMint, amount, amountRaw, swapMode, slippage };
}

const TERM_KEYS = { slippage: true, priority: true } as const;
export const BUY_KEYS = { ...TERM_KEYS, mint: true, solAmount: true, solAmountRaw: true } as const satisfies Record<
  keyof BuyOrder,
  true
>;
export const SELL_KEYS = {
  ...TERM_KEYS,
  mint: true,
  tokenAmount: true,
  tokenAmountRaw: true,
  sellPercent: true,
} as const satisfies Record<keyof SellOrder, true>;
export const SWAP_KEYS = {
  ...TERM_KEYS,
  inputMint: true,
  outputMint: true,
  amount: true,
  amountRaw: true,
  swapMode: true,
} as const satisfies Record<keyof SwapOrder, true>;
