import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { BuyRequest, SellRequest, SwapRequest, TradeService } from "../../../gen/tradewire/v1/trade_pb.ts";
import { Priority } from "../../../gen/tradewire/v1/types_pb.ts";
import type { BuiltTrade, TradeRequest, Trades } from "../../trade/trade.ts";
import { principalOf, stateOf } from "../call/call.ts";
import { fromBuilt, fromPriorities, fromQuoted, fromSubmitted, fromWatched } from "./answers.ts";
import { fromTradePage, toTradeQuery } from "./listed-trades.ts";
import { levelOf } from "./priority-levels.ts";
import { watchQuote } from "./quote-stream.ts";
import { parseMint, parseToken, swapModeOf, WIRE_SOL_MINT } from "./requests.ts";
import { type StreamBounds, streamOfKey } from "./stream-of-key.ts";
import { inFields, namingFields, type TradeFields } from "./trade-fields.ts";

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
  /** The response to a build. One that does not wait is answered without a promise, and without a closure. */
  const build = (fields: TradeFields, request: Terms, context: Pick<HandlerContext, "values">, amount: Amount) => {
    try {
      const built = trades.build(orderOf(request, context, amount));
      return built instanceof Promise ? answerAfter(built, fields) : fromBuilt(built);
    } catch (error) {
      throw inFields(error, fields);
    }
  };
  return {
    buy(request, context) {
      const fields = request.solAmountRaw === undefined ? BUY_FIELDS : BUY_RAW_FIELDS;
      return build(fields, request, context, {
        inMint: WIRE_SOL_MINT,
        outMint: parseToken(request.mint),
        mode: "exactIn",
        amount: request.solAmount,
        amountRaw: request.solAmountRaw,
      });
    },

    sell(request, context) {
      return build(saleFields(request), request, context, {
        inMint: parseToken(request.mint),
        outMint: WIRE_SOL_MINT,
        mode: "exactIn",
        amount: request.tokenAmount,
        amountRaw: request.tokenAmountRaw,
        sellPercent: request.sellPercent,
        totalGuard: request.totalGuard,
      });
    },

    swap(request, context) {
      return build(swapFields(request), request, context, swapAmountOf(request));
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
      return fromQuoted(await namingFields(swapFields(request), () => trades.quote(swapOf(request, context))));
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
      const ask = swapOf(request, context);
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

async function answerAfter(built: Promise<BuiltTrade>, fields: TradeFields) {
  return fromBuilt(await namingFields(fields, () => built));
}

/** The terms that every trade request has. */
type Terms = Omit<BuyRequest, "$typeName" | "mint" | "solAmount" | "solAmountRaw" | "priority"> &
  Partial<Pick<BuyRequest, "priority">>;

/** What a request trades, and how much of it. */
type Amount = Pick<TradeRequest, "inMint" | "outMint" | "mode" | "amountRaw" | "sellPercent" | "totalGuard"> & {
  readonly amount: number | undefined;
};

/** Written field by field: one that is made of copies of others takes three times as long, and twice the memory. */
function orderOf(request: Terms, context: Pick<HandlerContext, "values">, amount: Amount): TradeRequest {
  const caller = stateOf(context);
  return {
    principal: principalOf(context),
    inMint: amount.inMint,
    outMint: amount.outMint,
    mode: amount.mode,
    amount: amount.amount ?? Number.NaN,
    amountRaw: amount.amountRaw,
    sellPercent: amount.sellPercent,
    totalGuard: amount.totalGuard,
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
    // Quotes, which have none, are the same at every level.
    priority: levelOf(request.priority ?? Priority.FAST),
    caller,
    stages: caller.stages,
  };
}

function swapOf(
  request: Omit<SwapRequest, "$typeName" | "priority"> & Partial<Pick<SwapRequest, "priority">>,
  context: Pick<HandlerContext, "values">,
): TradeRequest {
  return orderOf(request, context, swapAmountOf(request));
}

function swapAmountOf(
  request: Pick<SwapRequest, "inputMint" | "outputMint" | "swapMode" | "amount" | "amountRaw" | "totalGuard">,
): Amount {
  return {
    inMint: parseMint(request.inputMint, "inputMint"),
    outMint: parseMint(request.outputMint, "outputMint"),
    mode: swapModeOf(request.swapMode),
    amount: request.amount,
    amountRaw: request.amountRaw,
    totalGuard: request.totalGuard,
  };
}

function saleFields({ sellPercent, tokenAmountRaw }: SellRequest): TradeFields {
  if (sellPercent !== undefined) return SELL_PERCENT_FIELDS;
  return tokenAmountRaw === undefined ? SELL_FIELDS : SELL_RAW_FIELDS;
}

const swapFields = ({ amountRaw }: Pick<SwapRequest, "amountRaw">) =>
  amountRaw === undefined ? SWAP_FIELDS : SWAP_RAW_FIELDS;
