import type { SubmitResponse } from "../../gen/tradewire/v1/trade_pb.ts";
import { TradeStatus } from "../../gen/tradewire/v1/types_pb.ts";
import { toWholeUnits } from "../primitives/amount.ts";
import { TradeError } from "./trade-error.ts";
import { mintOf } from "./verify/build-answer.ts";
import type { TradeExpectation } from "./verify/trade-expectation.ts";

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

/**
 * The trade if it is that of the signed transaction, with its amounts in whole units derived from the exact ones where the
 * decimals are known.
 *
 * @param expected what the transaction was verified to be, if it was
 * @throws TradeError UNEXPECTED_ANSWER with the signature that the client knows
 */
export function checkTrade(trade: Trade, signature: string, expected: TradeExpectation | undefined): Trade {
  const fault = trade.signature === signature ? expected && faultOf(trade, expected) : "is of another transaction";
  if (fault !== undefined) {
    throw new TradeError(
      "UNEXPECTED_ANSWER",
      `The transaction ${signature} was signed and may have landed, but the service's answer ${fault}. Look the transaction up elsewhere.`,
      { signature },
    );
  }
  const { tradeResult } = trade;
  if (tradeResult === undefined || expected?.decimals === undefined) return trade;
  const { input, output } = expected.decimals;
  const { inputAmountRaw, outputAmountRaw } = tradeResult;
  return {
    ...trade,
    tradeResult: {
      ...tradeResult,
      ...(input === undefined ? {} : { inputAmount: toWholeUnits(BigInt(inputAmountRaw), input) }),
      ...(output === undefined ? {} : { outputAmount: toWholeUnits(BigInt(outputAmountRaw), output) }),
    },
  };
}

/** What contradicts the signed transaction, which succeeds within its bounds or not at all. */
function faultOf(trade: Trade, expected: TradeExpectation): string | undefined {
  const { inMint, outMint, mode, amount, threshold, legs, announced } = expected;
  if (mintOf(trade.inputMint) !== inMint || mintOf(trade.outputMint) !== outMint) return "is of other mints";
  if (trade.platform !== legs.map(({ venue }) => venue).join("+")) return "is of another venue";
  const priority = announced?.priority;
  if (priority !== undefined && BigInt(Math.round(trade.priorityCost * 1e9)) !== priority) {
    return "states another cost of priority";
  }
  if (trade.tradeResult === undefined) return undefined;
  const { inputAmountRaw, outputAmountRaw } = trade.tradeResult;
  if (!/^\d{1,20}$/.test(inputAmountRaw) || !/^\d{1,20}$/.test(outputAmountRaw)) return "has amounts that are none";
  const [mostIn, leastOut] = mode === "exactIn" ? [amount, threshold] : [threshold, amount];
  if (BigInt(inputAmountRaw) > mostIn) return "states a higher input than the transaction allows";
  if (BigInt(outputAmountRaw) < leastOut) return "states a lower output than the transaction allows";
  return undefined;
}
