import type { SubmitResponse } from "../../gen/tradewire/v1/trade_pb.ts";
import { TradeStatus } from "../../gen/tradewire/v1/types_pb.ts";

/** How far a submitted trade got. */
export type TradeStatusName = "pending" | "processed" | "confirmed" | "finalized";

/** A status this library does not know counts as pending: it is asked for again. */
const STATUSES: ReadonlyMap<number, TradeStatusName> = new Map([
  [TradeStatus.PROCESSED, "processed"],
  [TradeStatus.CONFIRMED, "confirmed"],
  [TradeStatus.FINALIZED, "finalized"],
]);

/** What a trade moved: whole units as numbers, base units as exact texts. */
export interface TradeAmounts {
  readonly inputAmount: number;
  readonly outputAmount: number;
  readonly inputAmountRaw: string;
  readonly outputAmountRaw: string;
  /** Over two markets: base units of the mint between them, SOL or USDC, that stayed with the wallet. */
  readonly remainder?: { readonly mint: string; readonly amountRaw: string };
}

/** Lamports beside the trade itself, as exact texts. */
export interface TradeCosts {
  readonly baseFee: string;
  readonly priorityFee: string;
  readonly tip: string;
  readonly rentPaid: string;
  readonly rentReturned: string;
}

/** One market a trade went through. */
export interface TradeLeg {
  readonly venue: string;
  readonly market: string;
  readonly inputMint: string;
  readonly outputMint: string;
  readonly inputAmountRaw: string;
  readonly outputAmountRaw: string;
}

/** What became of a trade, measured on the chain. */
export interface Trade {
  readonly signature: string;
  readonly status: TradeStatusName;
  readonly slot: number | undefined;
  readonly platform: string;
  readonly inputMint: string;
  readonly outputMint: string;
  /** Absent while the chain's record cannot be read. */
  readonly tradeResult: TradeAmounts | undefined;
  /** SOL paid for priority, tips included. */
  readonly priorityCost: number;
  readonly costs: TradeCosts | undefined;
  readonly route: readonly TradeLeg[];
}

type TradeMessage = Omit<SubmitResponse, "$typeName" | "$unknown">;

/** A trade from any of the service's answers about one. */
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
