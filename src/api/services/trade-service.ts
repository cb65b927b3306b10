import type { ServiceImpl } from "@connectrpc/connect";
import type { BuyRequest, SellRequest, SwapRequest, TradeService } from "../../../gen/tradewire/v1/trade_pb.ts";
import type { BuiltTrade, Trades } from "../../trade/trade.ts";
import { principalOf, stateOf } from "../call/call.ts";
import { fromBuilt, fromPriorities, fromQuoted, fromSubmitted, fromWatched } from "./answers.ts";
import { fromTradePage, toTradeQuery } from "./listed-trades.ts";
import { levelOf } from "./priority-levels.ts";
import { watchQuote } from "./quote-stream.ts";
import { parseMint, parseToken, swapModeOf, WIRE_SOL_MINT } from "./requests.ts";
import { type StreamBounds, streamOfKey } from "./stream-of-key.ts";
import { namingFields, type TradeFields } from "./trade-fields.ts";

const BUY_FIELDS: TradeFields = { amount: "solAmount", inMint: undefined, outMint: "mint" };
const BUY_RAW_FIELDS: TradeFields = { ...BUY_FIELDS, amount: "solAmountRaw" };
const SELL_FIELDS: TradeFields = { amount: "tokenAmount", inMint: "mint", outMint: undefined };
const SELL_RAW_FIELDS: TradeFields = { ...SELL_FIELDS, amount: "tokenAmountRaw" };
const SELL_PERCENT_FIELDS: TradeFields = { ...SELL_FIELDS, amount: "sellPercent" };
const SWAP_FIELDS: TradeFields = { amount: "amount", inMint: "inputMint", outMint: "outputMint" };
const SWAP_RAW_FIELDS: TradeFields = { ...SWAP_FIELDS, amount: "amountRaw" };

/**
 * Implements TradeService on the product. Requests have passed validation, so their required fields are present.
 *
 * @param bounds what ends and limits streams
 */
export function createTradeService(trades: Trades, bounds: StreamBounds): ServiceImpl<typeof TradeService> {
  return {
    buy(request, context) {
      return answer(
        namingFields(request.solAmountRaw === undefined ? BUY_FIELDS : BUY_RAW_FIELDS, () =>
          trades.build({
            principal: principalOf(context),
            inMint: WIRE_SOL_MINT,
            outMint: parseToken(request.mint),
            mode: "exactIn",
            amount: request.solAmount ?? Number.NaN,
            amountRaw: request.solAmountRaw,
            ...termsOf(request),
            priority: levelOf(request.priority),
            caller: stateOf(context),
            stages: stateOf(context).stages,
          }),
        ),
      );
    },

    sell(request, context) {
      return answer(
        namingFields(saleFields(request), () =>
          trades.build({
            principal: principalOf(context),
            inMint: parseToken(request.mint),
            outMint: WIRE_SOL_MINT,
            mode: "exactIn",
            amount: request.tokenAmount ?? Number.NaN,
            amountRaw: request.tokenAmountRaw,
            sellPercent: request.sellPercent,
            ...termsOf(request),
            totalGuard: request.totalGuard,
            priority: levelOf(request.priority),
            caller: stateOf(context),
            stages: stateOf(context).stages,
          }),
        ),
      );
    },

    swap(request, context) {
      return answer(
        namingFields(swapFields(request), () =>
          trades.build({
            ...toSwap(request),
            principal: principalOf(context),
            priority: levelOf(request.priority),
            caller: stateOf(context),
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

    async quote(request, context) {
      const caller = stateOf(context);
      return fromQuoted(await namingFields(swapFields(request), () => trades.quote({ ...toSwap(request), caller })));
    },

    async getTrade(request, context) {
      return fromSubmitted(await trades.find(principalOf(context), request.signature));
    },

    async listTrades(request, context) {
      return fromTradePage(await trades.list(principalOf(context), toTradeQuery(request)));
    },

    async *watchTrade(request, context) {
      const watch = (until: AbortSignal) => trades.watch(principalOf(context), request.signature, until);
      for await (const trade of streamOfKey(bounds, context, watch)) yield fromWatched(trade);
    },

    async *watchQuote(request, context) {
      const caller = stateOf(context);
      const ask = { ...toSwap(request), caller };
      const price = async (worstCase: boolean) =>
        namingFields(swapFields(request), () => trades.quote({ ...ask, worstCase }));
      const prices = {
        price: () => price(false),
        withWorstCase: ask.worstCase === true ? () => price(true) : undefined,
      };
      const watch = (until: AbortSignal) => watchQuote(prices, () => bounds.takePrice(caller), until);
      for await (const quoted of streamOfKey(bounds, context, watch)) yield fromQuoted(quoted);
    },

    getPriority() {
      return fromPriorities(trades.priorities());
    },
  };
}

/** The response to a build. One that did not wait is answered without a promise. */
function answer(built: BuiltTrade | Promise<BuiltTrade>) {
  return built instanceof Promise ? built.then(fromBuilt) : fromBuilt(built);
}

function toSwap(request: Omit<SwapRequest, "$typeName" | "priority">) {
  return {
    inMint: parseMint(request.inputMint, "inputMint"),
    outMint: parseMint(request.outputMint, "outputMint"),
    mode: swapModeOf(request.swapMode),
    amount: request.amount ?? Number.NaN,
    amountRaw: request.amountRaw,
    totalGuard: request.totalGuard,
    ...termsOf(request),
  };
}

/** The terms that every trade request has. */
function termsOf(request: Omit<BuyRequest, "$typeName" | "mint" | "solAmount" | "solAmountRaw" | "priority">) {
  return {
    slippage: request.slippage!,
    maxPriceImpact: request.maxPriceImpact,
    maxPriorityCost: request.maxPriorityCost,
    requireChecked: request.requireChecked,
    maxTransactionVersion: request.maxTransactionVersion,
    maxPaths: request.maxPaths,
    maxLegs: request.maxLegs,
    directOnly: request.directOnly,
    venues: request.venues,
    excludeVenues: request.excludeVenues,
    worstCase: request.worstCase,
  };
}

function saleFields({ sellPercent, tokenAmountRaw }: SellRequest): TradeFields {
  if (sellPercent !== undefined) return SELL_PERCENT_FIELDS;
  return tokenAmountRaw === undefined ? SELL_FIELDS : SELL_RAW_FIELDS;
}

const swapFields = ({ amountRaw }: Pick<SwapRequest, "amountRaw">) =>
  amountRaw === undefined ? SWAP_FIELDS : SWAP_RAW_FIELDS;
