import type { ServiceImpl } from "@connectrpc/connect";
import type { SwapRequest, TradeService } from "../../../gen/tradewire/v1/trade_pb.ts";
import type { Trades } from "../../trade/trade.ts";
import { principalOf, stateOf } from "../call/call.ts";
import type { StreamPlaces } from "../call/stream-places.ts";
import { fromBuilt, fromPriorities, fromQuoted, fromSubmitted, fromWatched } from "./answers.ts";
import { levelOf } from "./priority-levels.ts";
import { parseMint, parseToken, swapModeOf, WIRE_SOL_MINT } from "./requests.ts";
import { namingFields, type TradeFields } from "./trade-fields.ts";

const BUY_FIELDS: TradeFields = { amount: "solAmount", inMint: undefined, outMint: "mint" };
const SELL_FIELDS: TradeFields = { amount: "tokenAmount", inMint: "mint", outMint: undefined };
const SELL_PERCENT_FIELDS: TradeFields = { ...SELL_FIELDS, amount: "sellPercent" };
const SWAP_FIELDS: TradeFields = { amount: "amount", inMint: "inputMint", outMint: "outputMint" };

/**
 * Implements TradeService on the product. Requests have passed validation, so their required fields are present.
 *
 * @param closing ends streams when the service closes
 * @param streams bounds the streams of each API key
 */
export function createTradeService(
  trades: Trades,
  closing: AbortSignal,
  streams: StreamPlaces,
): ServiceImpl<typeof TradeService> {
  return {
    async buy(request, context) {
      return fromBuilt(
        await namingFields(BUY_FIELDS, () =>
          trades.build({
            principal: principalOf(context),
            inMint: WIRE_SOL_MINT,
            outMint: parseToken(request.mint),
            mode: "exactIn",
            amount: request.solAmount!,
            slippage: request.slippage!,
            priority: levelOf(request.priority),
            maxPriceImpact: request.maxPriceImpact,
            maxPriorityCost: request.maxPriorityCost,
            requireChecked: request.requireChecked,
            stages: stateOf(context).stages,
          }),
        ),
      );
    },

    async sell(request, context) {
      return fromBuilt(
        await namingFields(request.sellPercent === undefined ? SELL_FIELDS : SELL_PERCENT_FIELDS, () =>
          trades.build({
            principal: principalOf(context),
            inMint: parseToken(request.mint),
            outMint: WIRE_SOL_MINT,
            mode: "exactIn",
            amount: request.tokenAmount ?? Number.NaN,
            sellPercent: request.sellPercent,
            slippage: request.slippage!,
            priority: levelOf(request.priority),
            maxPriceImpact: request.maxPriceImpact,
            maxPriorityCost: request.maxPriorityCost,
            requireChecked: request.requireChecked,
            stages: stateOf(context).stages,
          }),
        ),
      );
    },

    async swap(request, context) {
      return fromBuilt(
        await namingFields(SWAP_FIELDS, () =>
          trades.build({
            ...toSwap(request),
            principal: principalOf(context),
            priority: levelOf(request.priority),
            stages: stateOf(context).stages,
          }),
        ),
      );
    },

    async submit(request, context) {
      return fromSubmitted(
        await trades.submit({
          principal: principalOf(context),
          submissionToken: request.submissionToken,
          signedTransaction: request.signedTransaction,
          stages: stateOf(context).stages,
        }),
      );
    },

    async quote(request) {
      return fromQuoted(await namingFields(SWAP_FIELDS, () => trades.quote(toSwap(request))));
    },

    async getTrade(request, context) {
      return fromSubmitted(await trades.find(principalOf(context), request.signature));
    },

    async *watchTrade(request, context) {
      const principal = principalOf(context);
      const until = AbortSignal.any([context.signal, closing]);
      streams.take(principal.keyId);
      try {
        for await (const trade of trades.watch(principal, request.signature, until)) yield fromWatched(trade);
      } finally {
        streams.free(principal.keyId);
      }
    },

    getPriority() {
      return fromPriorities(trades.priorities());
    },
  };
}

function toSwap(request: Omit<SwapRequest, "$typeName" | "priority">) {
  return {
    inMint: parseMint(request.inputMint, "inputMint"),
    outMint: parseMint(request.outputMint, "outputMint"),
    mode: swapModeOf(request.swapMode),
    amount: request.amount!,
    slippage: request.slippage!,
    maxPriceImpact: request.maxPriceImpact,
    maxPriorityCost: request.maxPriorityCost,
    requireChecked: request.requireChecked,
  };
}
