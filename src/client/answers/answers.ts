import type { ApiKey as ApiKeyMessage } from "../../../gen/tradewire/v1/account_pb.ts";
import type {
  BuyResponse,
  GetPriorityResponse,
  ListTradesResponse,
  QuoteResponse,
} from "../../../gen/tradewire/v1/trade_pb.ts";
import type { Plain } from "./plain-answer.ts";

/** What a build call returns: the unsigned transaction, its submission token, and what the service says of the trade. */
export type BuiltResponse = Plain<BuyResponse>;

/** A price, with the alternatives considered. */
export type PriceQuote = Plain<QuoteResponse>;

/** What each priority level costs now, from the lowest level to the highest. */
export type PriorityPrices = Plain<GetPriorityResponse>;

/** A page of this account's trades, newest first. Absent `nextCursor`: the last page. */
export type ListedTrades = Plain<ListTradesResponse>;

/** An API key without its secret. */
export type ApiKey = Plain<ApiKeyMessage>;
