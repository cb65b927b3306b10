import type { SubmitResponse } from "../../gen/tradewire/v1/trade_pb.ts";
import { TradeStatus } from "../../gen/tradewire/v1/types_pb.ts";

/** How far a submitted trade got. */
export type TradeStatusName = "pending" | "processed" | "confirmed" | "finalized";

/** A status unknown to this library counts as pending, so that it is read again. */
const STATUSES: ReadonlyMap<number, TradeStatusName> = new Map([
  [TradeStatus.PROCESSED, "processed"],
  [TradeStatus.CONFIRMED, "confirmed"],
  [TradeStatus.FINALIZED, "finalized"],
]);

/** What a trade moved: whole units as numbers, base units as exact strings. */
export interface TradeResult {
  readonly inputAmount: number;
  readonly outputAmount: number;
  readonly inputAmountRaw: string;
  readonly outputAmountRaw: string;
  /** Over two markets: the rest of the intermediate mint, SOL or USDC, that stays in the wallet. Base units. */
  readonly remainder?: { readonly mint: string; readonly amountRaw: string };
}

/** Costs besides the trade itself: lamports as exact strings. */
export interface TradeCosts {
  readonly baseFee: string;
  readonly priorityFee: string;
  readonly tip: string;
  readonly rentPaid: string;
  readonly rentReturned: string;
}

/** One market of a trade. */
export interface TradeLeg {
  readonly venue: string;
  readonly market: string;
  readonly inputMint: string;
  readonly outputMint: string;
  readonly inputAmountRaw: string;
  readonly outputAmountRaw: string;
}

/** The state of a trade, measured on the chain. */
export interface Trade {
  readonly signature: string;
  readonly status: TradeStatusName;
  readonly slot: number | undefined;
  readonly platform: string;
  readonly inputMint: string;
  readonly outputMint: string;
  /** Absent until the chain's record can be read. */
  readonly tradeResult: TradeResult | undefined;
  /** SOL paid for priority, tips included. */
  readonly priorityCost: number;
  readonly costs: TradeCosts | undefined;
  readonly route: readonly TradeLeg[];
}

type TradeMessage = Omit<SubmitResponse, "$typeName" | "$unknown">;

/** The trade in any of the service's responses. */
export function toTrade(message: TradeMessage): Trade {
  const { signature, status, slot, platform, inputMint, outputMint, tradeResult, priorityCost, costs, route } = message;
  return {
    signature,
    status: STATUSES.get(status) ?? "pending",
    slot: slot === undefined ? undefined : Number(slot),
    platform,
    inputMint,
    outputMint,
    tradeResult:
      tradeResult === undefined
        ? undefined
        : {
            inputAmount: tradeResult.inputAmount,
            outputAmount: tradeResult.outputAmount,
            inputAmountRaw: tradeResult.inputAmountRaw,
            outputAmountRaw: tradeResult.outputAmountRaw,
            ...(tradeResult.remainder === undefined
              ? {}
              : { remainder: { mint: tradeResult.remainder.mint, amountRaw: tradeResult.remainder.amountRaw } }),
          },
    priorityCost,
    costs:
      costs === undefined
        ? undefined
        : {
            baseFee: costs.baseFee,
            priorityFee: costs.priorityFee,
            tip: costs.tip,
            rentPaid: costs.rentPaid,
            rentReturned: costs.rentReturned,
          },
    route: route.map((leg) => ({
      venue: leg.venue,
      market: leg.market,
      inputMint: leg.inputMint,
      outputMint: leg.outputMint,
      inputAmountRaw: leg.inputAmountRaw,
      outputAmountRaw: leg.outputAmountRaw,
    })),
  };
}
