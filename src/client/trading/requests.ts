import { TradeStatus } from "../../../gen/tradewire/v1/types_pb.ts";
import type { TradeStatusName } from "../answers/plain-answer.ts";
import { refuseUnknownKeys } from "../order/known-keys.ts";
import { checkLimitForms } from "../order/limit-forms.ts";
import { ROUTE_KEYS, type RouteLimits, routeLimitsOf, type TradeLimits } from "../order/limits.ts";
import { type CallControl, CONTROL_KEYS, TRADE_KEYS } from "../order/options.ts";
import {
  BUY_KEYS,
  type BuyOrder,
  buyAsTrade,
  PRIORITIES,
  SELL_KEYS,
  type SellOrder,
  type SettledOrder,
  SWAP_KEYS,
  SWAP_MODES,
  type SwapOrder,
  saleAsTrade,
  swapAsTrade,
} from "../order/order.ts";
import { checkRouteLimits } from "../verify/route/announced-route.ts";

/** Where a limit belongs that is written into the order. */
const OPTIONS = { keys: TRADE_KEYS, place: "the options, the argument after the order" } as const;

/** A buy as the verifier and as the service read it. @throws TypeError for an unknown key or name, or unless it has one amount */
export function buyRequest(order: SettledOrder<BuyOrder>, limits: TradeLimits) {
  refuseUnknownKeys(order, BUY_KEYS, "the order", OPTIONS);
  const { mint, slippage, solAmount, solAmountRaw, priority } = order;
  const terms = {
    mint,
    slippage,
    ...given({ solAmount, solAmountRaw }),
    priority: named("priority", PRIORITIES, priority),
  };
  return { trade: buyAsTrade(order), request: { ...terms, ...serverLimits(limits) } };
}

/** A sale as the verifier and as the service read it. @throws TypeError for an unknown key, or unless it has one amount */
export function saleRequest(order: SettledOrder<SellOrder>, limits: TradeLimits) {
  refuseUnknownKeys(order, SELL_KEYS, "the order", OPTIONS);
  const { mint, slippage, tokenAmount, tokenAmountRaw, sellPercent, priority } = order;
  const amounts = given({ tokenAmount, tokenAmountRaw, sellPercent });
  const terms = { mint, slippage, ...amounts, priority: named("priority", PRIORITIES, priority) };
  return { trade: saleAsTrade(order), request: { ...terms, ...serverLimits(limits), totalGuard: true } };
}

/** A swap as the verifier and as the service read it. @throws TypeError for an unknown key, or unless it has one amount */
export function swapRequest(order: SettledOrder<SwapOrder>, limits: TradeLimits) {
  refuseUnknownKeys(order, SWAP_KEYS, "the order", OPTIONS);
  const terms = { ...swapTerms(order), priority: named("priority", PRIORITIES, order.priority) };
  return { trade: swapAsTrade(order), request: { ...terms, ...serverLimits(limits), totalGuard: true } };
}

/** A swap to be priced. @throws TypeError for an unknown key, or unless it has one amount */
export function quoteRequest(
  order: Omit<SettledOrder<SwapOrder>, "priority">,
  options: RouteLimits & CallControl & { readonly worstCase?: boolean | undefined },
) {
  refuseUnknownKeys(order, SWAP_KEYS, "the order", OPTIONS);
  refuseUnknownKeys(options, { ...ROUTE_KEYS, ...CONTROL_KEYS, worstCase: true }, "the options of quote");
  swapAsTrade(order);
  checkRouteLimits(options);
  const terms = { ...swapTerms(order), ...routeLimitsOf(options), maxTransactionVersion: NEWEST_VERSION };
  // Builds send the guard too: it is what their worst case is of.
  return options.worstCase === true ? { ...terms, worstCase: true, totalGuard: true } : terms;
}

/** Which of the account's trades to list. Times are ISO 8601 with a time zone. */
export interface TradeFilter {
  /** Trades per page, 1 to 100; default 50. */
  readonly limit?: number | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
  /** Only trades with one of these statuses. */
  readonly status?: readonly TradeStatusName[] | undefined;
  /** Only trades submitted at this time or later, and before the other. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

const FILTER_KEYS = { limit: true, cursor: true, status: true, since: true, until: true } as const satisfies Record<
  keyof TradeFilter,
  true
>;

const STATUSES = {
  pending: TradeStatus.PENDING,
  processed: TradeStatus.PROCESSED,
  confirmed: TradeStatus.CONFIRMED,
  finalized: TradeStatus.FINALIZED,
  failed: TradeStatus.FAILED,
  expired: TradeStatus.EXPIRED,
} as const satisfies Record<TradeStatusName, TradeStatus>;

/** A request for a page of trades. @throws TypeError for an unknown key or status */
export function listRequest(filter: TradeFilter) {
  refuseUnknownKeys(filter, FILTER_KEYS, "the filter");
  const { limit, cursor, since, until, status = [] } = filter;
  for (const name of status) {
    if (Object.hasOwn(STATUSES, name)) continue;
    throw new TypeError(`status is a list of ${Object.keys(STATUSES).join(", ")}, not ${name}.`);
  }
  return { ...given({ limit, cursor, since, until }), status: status.map((name) => STATUSES[name]) };
}

/** This library reads and signs both versions. */
const NEWEST_VERSION = 1;

function swapTerms({
  inputMint,
  outputMint,
  slippage,
  amount,
  amountRaw,
  swapMode,
}: Omit<SettledOrder<SwapOrder>, "priority">) {
  return {
    inputMint,
    outputMint,
    slippage,
    ...given({ amount, amountRaw }),
    swapMode: named("swapMode", SWAP_MODES, swapMode),
  };
}

/** The limits that the service checks too, so that it refuses before it builds. @throws TypeError for one that limits nothing */
function serverLimits(limits: TradeLimits) {
  checkLimitForms(limits);
  const { maxPriceImpact, maxPriorityCost } = limits;
  return {
    maxTransactionVersion: NEWEST_VERSION,
    ...given({ maxPriceImpact, maxPriorityCost }),
    ...routeLimitsOf(limits),
  };
}

/** What a name stands for; the service asks for a missing one. @throws TypeError listing the names, for an unknown one */
function named<N extends string, V>(field: string, names: Readonly<Record<N, V>>, name: N): V {
  if (name === undefined || Object.hasOwn(names, name)) return names[name];
  throw new TypeError(`${field} is one of ${Object.keys(names).join(", ")}, not ${name}.`);
}

/** The fields that are not undefined. */
function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
