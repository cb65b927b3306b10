import type { ServiceImpl } from "@connectrpc/connect";
import type { SwapRequest, TradeService } from "../../../gen/tradewire/v1/trade_pb.ts";
import { invalidField } from "../../errors/tradewire-error.ts";
import type { Address } from "../../primitives/address.ts";
import type { Trades } from "../../trade/trade.ts";
import { principalOf, stateOf } from "../call/call.ts";
import type { StreamPlaces } from "../call/stream-places.ts";
import {
  fromBuilt,
  fromPriorities,
  fromQuoted,
  fromSubmitted,
  fromWatched,
  parseMint,
  SOL_MINT,
  toPriority,
  toSwapMode,
} from "./answers.ts";
import { namingFields, type TradeFields } from "./trade-fields.ts";

const BUY_FIELDS: TradeFields = { amount: "solAmount", inMint: undefined, outMint: "mint" };
const SELL_FIELDS: TradeFields = { amount: "tokenAmount", inMint: "mint", outMint: undefined };
const SELL_PERCENT_FIELDS: TradeFields = { ...SELL_FIELDS, amount: "sellPercent" };
const SWAP_FIELDS: TradeFields = { amount: "amount", inMint: "inputMint", outMint: "outputMint" };

/**
 * TradeService on the product. Requests have passed the rules of their definition, so what these make required is there.
 *
 * @param closing ends streams when the service closes
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
            inMint: SOL_MINT,
            outMint: parseToken(request.mint),
            mode: "exactIn",
            amount: request.solAmount!,
            slippage: request.slippage!,
            priority: toPriority(request.priority),
            maxPriceImpact: request.maxPriceImpact,
            maxPriorityCost: request.maxPriorityCost,
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
            outMint: SOL_MINT,
            mode: "exactIn",
            amount: request.tokenAmount ?? Number.NaN,
            sellPercent: request.sellPercent,
            slippage: request.slippage!,
            priority: toPriority(request.priority),
            maxPriceImpact: request.maxPriceImpact,
            maxPriorityCost: request.maxPriorityCost,
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
            priority: toPriority(request.priority),
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

/** The token of a buy or a sale. @throws TradewireError VALIDATION_ERROR when it is no address, or SOL itself */
function parseToken(text: string): Address {
  const mint = parseMint(text, "mint");
  if (mint === SOL_MINT) throw invalidField("mint", "mint is SOL itself: name the token to trade for SOL.");
  return mint;
}

function toSwap(request: Omit<SwapRequest, "$typeName" | "priority">) {
  return {
    inMint: parseMint(request.inputMint, "inputMint"),
    outMint: parseMint(request.outputMint, "outputMint"),
    mode: toSwapMode(request.swapMode),
    amount: request.amount!,
    slippage: request.slippage!,
    maxPriceImpact: request.maxPriceImpact,
    maxPriorityCost: request.maxPriorityCost,
  };
}
